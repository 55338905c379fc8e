"""written.py - what the programs that write C tables have in common"""
import json


def quote(text):
    """A text as C has it."""
    return json.dumps(text, ensure_ascii=False)


def write_changed(folder, texts):
    """Files of a folder, by name; one that would not change is not touched."""
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
