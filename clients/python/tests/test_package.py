"""The wheel and the source distribution, installed into empty environments, and what the README shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Dict, List

from .support import HERE, Case, program, skip_or_fail

PRINTED = """\
read_file README.md -> read_file README.md: done
write_file .env -> blocked: secrets stay as they are
write_file notes.txt -> write_file notes.txt: done
"""
GUARD = "grep -q '\\.env' && { echo 'secrets stay as they are' >&2; exit 2; }; exit 0"

#: Whether the pip of this interpreter, from version 22.3 on, installs into another interpreter's environment.
OWN_PIP_SERVES_OTHERS = (
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", sys.executable, "--version"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ).returncode
    == 0
)


class Package(Case):
    def environment(self) -> Dict[str, str]:
        # Nothing of this machine's configuration, and no index: what is built and installed is all there is.
        return {**super().environment(), "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run_in(self, folder: Path, *command: str, **env: str) -> str:
        ran = subprocess.run(command, cwd=folder, env={**self.environment(), **env}, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, f"{command}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def empty(self, name: str) -> str:
        """The interpreter of a new environment."""
        folder = self.base / name
        try:
            venv.create(folder, with_pip=not OWN_PIP_SERVES_OTHERS)
        except (subprocess.CalledProcessError, ImportError):
            skip_or_fail(self, "venv with pip")
        return str(folder / "bin/python")

    def pip(self, python: str, *arguments: str) -> str:
        """Runs pip for an environment. One of its own would first have to be installed and compiled there."""
        words = (sys.executable, "-m", "pip", "--python", python) if OWN_PIP_SERVES_OTHERS else (python, "-m", "pip")
        return self.run_in(self.base, *words, *arguments)

    def guarding(self) -> Path:
        return self.project({"write_file": GUARD})

    def test_the_wheel_is_installed_and_guards(self) -> None:
        python = self.empty("wheel")
        before = sorted(path for path in HERE.rglob("*") if "__pycache__" not in path.parts)
        self.pip(python, "wheel", "--no-deps", "-w", "dist", str(HERE))
        after = sorted(path for path in HERE.rglob("*") if "__pycache__" not in path.parts)
        self.assertEqual(before, after, "building leaves nothing in the source tree")
        (wheel,) = (self.base / "dist").iterdir()
        self.assertEqual(wheel.name, "hookrail_client-0.1.0-py3-none-any.whl")
        self.pip(python, "install", str(wheel))
        self.assertIn("0.1.0", self.pip(python, "show", "hookrail-client"))
        self.pip(python, "check")
        place = "import hookrail_client as h, pathlib as p; print(p.Path(h.__file__).with_name('py.typed').is_file())"
        self.assertEqual(self.run_in(self.base, python, "-I", "-c", place), "True\n")
        self.examples(python)
        self.pip(python, "uninstall", "-y", "hookrail-client")

    def examples(self, python: str) -> None:
        project = self.guarding()
        _server, path = self.serve(project)
        for example in ("agent.py", "async_agent.py"):
            script = str(HERE / "examples" / example)
            spawned = self.run_in(project, python, script, "--program", program(self), "--trust-project")
            self.assertEqual(spawned, PRINTED)
            self.assertEqual(self.run_in(project, python, script, "--socket", path), PRINTED)

    def test_the_source_distribution_is_installed(self) -> None:
        python = self.empty("sdist")
        build = "import build_backend as b, sys; print(b.build_sdist(sys.argv[1]))"
        name = self.run_in(HERE, python, "-c", build, str(self.base), PYTHONDONTWRITEBYTECODE="1").strip()
        self.assertEqual(name, "hookrail_client-0.1.0.tar.gz")
        with tarfile.open(self.base / name) as archive:
            names = archive.getnames()
        self.assertIn("hookrail_client-0.1.0/PKG-INFO", names)
        self.assertIn("hookrail_client-0.1.0/src/hookrail_client/py.typed", names)
        self.pip(python, "install", name)
        version = "import hookrail_client as h; print(h.__version__)"
        self.assertEqual(self.run_in(self.base, python, "-I", "-c", version), "0.1.0\n")

    def test_the_same_tree_gives_the_same_wheel(self) -> None:
        sys.path.insert(0, str(HERE))
        self.addCleanup(sys.path.remove, str(HERE))
        import build_backend

        wheels = []
        for folder in (self.base / "one", self.base / "two"):
            folder.mkdir()
            wheels.append(folder / build_backend.build_wheel(str(folder)))
        self.assertEqual(wheels[0].read_bytes(), wheels[1].read_bytes())
        with zipfile.ZipFile(wheels[0]) as archive:
            text = archive.read("hookrail_client-0.1.0.dist-info/METADATA").decode()
        for line in (
            "Name: hookrail-client",
            "Version: 0.1.0",
            "Requires-Python: >=3.9",
            "Classifier: Typing :: Typed",
        ):
            self.assertIn(f"\n{line}\n", text)

    def test_what_the_readme_shows_runs(self) -> None:
        blocks: List[str] = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.S)
        self.assertEqual(len(blocks), 2)
        project = self.guarding()
        self.run_in(project, program(self), "trust", "grant", "--yes")
        # The name that the README uses, whatever the program under test is called.
        (self.base / "bin").mkdir()
        (self.base / "bin/hookrail").symlink_to(program(self))
        path = f"{self.base / 'bin'}{os.pathsep}{os.environ['PATH']}"
        for block in blocks:
            printed = self.run_in(project, sys.executable, "-c", block, PATH=path, PYTHONPATH=str(HERE / "src"))
            self.assertEqual(printed, "blocked: secrets stay as they are\n")

    def test_what_the_page_about_the_bus_shows_runs(self) -> None:
        page = HERE.parent.parent / "docs/how-to/embed-any-language.md"
        if not page.exists():  # in a source distribution
            self.skipTest("docs/how-to/embed-any-language.md is not part of the package")
        (block,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
        project = self.guarding()
        _server, path = self.serve(project)
        block = block.replace("/run/user/1000/hookrail.sock", path) + "print(allowed, reason)\n"
        printed = self.run_in(project, sys.executable, "-c", block, PYTHONPATH=str(HERE / "src"))
        self.assertEqual(printed, "False secrets stay as they are\n")
