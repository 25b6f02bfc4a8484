"""An agent in Python that needs nothing but Python. The protocol: node_modules/dragoman/docs/reference/program-protocol.md"""

import json
import sys


def send(type, **more):
    print(json.dumps({"type": type, **more}), flush=True)


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit()  # The server has closed the input.
    return json.loads(line)


def step(name, work):
    """Runs work once, even if the server is killed and the turn is repeated."""
    send("step", name=name)
    recorded = read()
    if recorded["done"]:
        return recorded["value"]
    send("stepped", value=work())
    return read()["value"]


def serve(turn):
    words = turn["text"].split()
    if len(words) < 2 and turn["task"]["turn"] == 1:
        return send("ask", text="Give me a sentence, please")
    send("status", text=f"Counting {len(words)} words")
    lengths = step("count", lambda: {word: len(word) for word in words})
    for word, length in lengths.items():
        send("text", text=f"{word} has {length} letters. ")
    send("data", data=lengths, name="lengths")
    send("done")


while True:
    line = read()
    if line["type"] == "turn":
        serve(line)
