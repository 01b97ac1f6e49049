"""Builds the wheel and the source distribution (PEP 517) with nothing but the standard library.

The same tree gives the same bytes: times are fixed and files are sorted.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
PACKAGE = "hookrail_client"
TIME = (2020, 1, 1, 0, 0, 0)


def project() -> Dict[str, Any]:
    """The `[project]` table. `tomllib` is not in Python 3.9 and 3.10, and the values are JSON."""
    text = (HERE / "pyproject.toml").read_text("utf-8")
    table = re.search(r"^\[project\]\n(.*?)(?=^\[|\Z)", text, re.S | re.M)
    assert table is not None, "pyproject.toml has no [project]"
    found: Dict[str, Any] = {}
    decoder = json.JSONDecoder()
    for key in re.finditer(r"^([a-z-]+) = ", table.group(1), re.M):
        found[key.group(1)], _end = decoder.raw_decode(table.group(1), key.end())
    return found


def metadata() -> str:
    table = project()
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {table['name']}",
        f"Version: {table['version']}",
        f"Summary: {table['description']}",
        f"Keywords: {','.join(table['keywords'])}",
        f"License-Expression: {table['license']}",
        f"Requires-Python: {table['requires-python']}",
        *(f"Classifier: {classifier}" for classifier in table["classifiers"]),
        "Description-Content-Type: text/markdown",
        "",
        (HERE / table["readme"]).read_text("utf-8"),
    ]
    return "\n".join(lines)


def sources(folder: str) -> List[Tuple[str, bytes]]:
    root = HERE / folder
    paths = [path for path in sorted(root.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return [(path.relative_to(HERE).as_posix(), path.read_bytes()) for path in paths]


def build_wheel(
    wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    return _wheel(wheel_directory, [(name[len("src/") :], data) for name, data in sources("src")])


def build_editable(
    wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None, metadata_directory: Optional[str] = None
) -> str:
    return _wheel(wheel_directory, [(f"{PACKAGE}.pth", f"{HERE / 'src'}\n".encode())])


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    base = f"{PACKAGE}-{project()['version']}"
    files = [(name, (HERE / name).read_bytes()) for name in ("README.md", "build_backend.py", "pyproject.toml")]
    files += sources("src") + sources("tests") + sources("examples")
    files.append(("PKG-INFO", metadata().encode()))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in sorted(files):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    target = Path(sdist_directory) / f"{base}.tar.gz"
    target.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return target.name


def _wheel(directory: str, files: List[Tuple[str, bytes]]) -> str:
    base = f"{PACKAGE}-{project()['version']}"
    info = f"{base}.dist-info"
    tags = "Wheel-Version: 1.0\nGenerator: hookrail-client\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = [*files, (f"{info}/METADATA", metadata().encode()), (f"{info}/WHEEL", tags.encode())]
    record = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in files]
    files.append((f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]).encode()))
    target = Path(directory) / f"{base}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return target.name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
