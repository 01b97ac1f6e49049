import gzip, hashlib, json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
index = folder / "index.jsonl"
known = [json.loads(line) for line in index.open()] if index.exists() else []
# The chain begins with nothing, or behind a segment that was removed.
beginnings = {(0, "0" * 64)} | {(line["seq"], line["hash"]) for line in known if line["state"] == "removed"}
# While a segment is being compressed both of its files may be there: the plain one counts.
segments = {path.name.split(".")[0]: path for end in (".jsonl.gz", ".jsonl") for path in folder.glob("0*" + end)}
last = None
for name, path in sorted(segments.items()):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as lines:
        for line in lines:
            if name == max(segments) and not line.endswith(b"\n"):
                break  # its writer was ended, or is writing now
            record = json.loads(line)
            hashed = line.rpartition(b',"hash"')[0]
            assert hashlib.sha256(hashed).hexdigest() == record["hash"], f"record {record['seq']} was changed"
            before = (record["seq"] - 1, record["prev"])
            assert before == last or last is None and before in beginnings, f"a record is missing before {record['seq']}"
            last = (record["seq"], record["hash"])
assert all(last and line["seq"] <= last[0] for line in known), "the last records are gone"
print(*last or ["no records"])
