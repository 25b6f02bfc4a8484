"""An agent in Python that needs nothing but Python. What is said and told: docs/reference/program-protocol.md"""

import json
import sys


def say(kind, **more):
    print(json.dumps({"type": kind, **more}), flush=True)


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit()  # The server is gone.
    return json.loads(line)


def step(name, work):
    """Does something once, also if the server is killed and the turn begins again."""
    say("step", name=name)
    told = read()
    if told["done"]:
        return told["value"]
    say("stepped", value=work())
    return read()["value"]


def serve(turn):
    words = turn["text"].split()
    if len(words) < 2 and turn["task"]["turn"] == 1:
        return say("ask", text="Give me a sentence, please")
    say("status", text=f"Counting {len(words)} words")
    lengths = step("count", lambda: {word: len(word) for word in words})
    for word, length in lengths.items():
        say("text", text=f"{word} has {length} letters. ")
    say("data", data=lengths, name="lengths")
    say("done")


while True:
    line = read()
    if line["type"] == "turn":
        serve(line)
