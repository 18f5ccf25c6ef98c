#!/usr/bin/env python3
"""Splits lit tests at `// -----` into one file for each case, without comments.

Usage: make-corpus.py FOLDER TEST...
"""
import hashlib
import pathlib
import re
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for test in sys.argv[2:]:
        for case in pathlib.Path(test).read_text().split("// -----"):
            text = re.sub(r"//.*\n", "\n", case).strip() + "\n"
            if text.strip():
                name = hashlib.sha1(text.encode()).hexdigest()[:16]
                (folder / f"{name}.mlir").write_text(text)


if __name__ == "__main__":
    main()
