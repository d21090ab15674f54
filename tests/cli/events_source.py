#!/usr/bin/env python3
# events_source.py SCHEMA FOLDER…: every mend_event() of the C sources below the folders gives the fields that the schema
# has, with their types; every field of the schema is given somewhere; a field that is missing somewhere is not required.
import json
import pathlib
import re
import sys

TYPES = {"ev_int": "integer", "ev_real": "number", "ev_str": "string"}


def split(text):  # at the commas outside parentheses and strings
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in "([{":
            depth += 1
        elif not quoted and c in ")]}":
            depth -= 1
        elif not quoted and c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def calls(text):  # the arguments of each
    for found in re.finditer(r"\bmend_event\(", text):
        depth, i, quoted = 1, found.end(), False
        while depth:
            if text[i] == '"' and text[i - 1] != "\\":
                quoted = not quoted
            elif not quoted:
                depth += {"(": 1, ")": -1}.get(text[i], 0)
            i += 1
        yield split(text[found.end() : i - 1])


def main():
    schema = json.load(open(sys.argv[1]))
    rules, wrong, given, seen = schema["$defs"], [], {}, 0
    listed = [one["$ref"].rpartition("/")[2] for one in schema["oneOf"]]
    if sorted(listed) != sorted(rules):
        wrong.append(f"oneOf and $defs differ: {sorted(set(listed) ^ set(rules))}")
    for folder in sys.argv[2:]:
        for path in sorted(pathlib.Path(folder).rglob("*.c")):
            for name, *fields in calls(path.read_text()):
                events = re.findall(r'"([a-z_.]+)"', name.rpartition("?")[2])
                parsed = [re.match(r'(ev_\w+)\(\s*"(\w+)"', field) for field in fields]
                where = f"{path}: {name}"
                seen += 1
                if not events or not all(parsed):
                    wrong.append(f"{where}: cannot be read")
                    continue
                for event in events:
                    rule = rules.get(event, {"properties": {}, "required": []})
                    keys = {one[2]: TYPES[one[1]] for one in parsed}
                    given.setdefault(event, set()).update(keys)
                    for key, type_ in keys.items():
                        own = rule["properties"].get(key, {}).get("type")
                        if own is None:
                            wrong.append(f"{where}: the schema has no {key}")
                        elif type_ not in own or (type_ == "number" and "null" not in own):
                            wrong.append(f"{where}: {key} is a {type_}, in the schema {own}")
                    for key in rule["required"]:
                        if key != "event" and key not in keys:
                            wrong.append(f"{where}: no {key}")
    for event, rule in rules.items():
        for key in set(rule["properties"]) - {"event"} - given.get(event, set()):
            wrong.append(f"{event}: nobody gives {key}")
    print("\n".join(wrong) or f"{seen} calls, {len(rules)} events")
    sys.exit(bool(wrong))


main()
