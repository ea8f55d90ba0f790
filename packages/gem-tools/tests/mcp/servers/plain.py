"""A stdio MCP server of the standard library alone, for tests: it starts at once and misbehaves on request.

python plain.py [stubborn|mute|refuse|no-tools|chatty]
"""

import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
WRITING = threading.Lock()
COUNT = 0

INT = {"type": "integer"}
STR = {"type": "string"}


def obj(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


TOOLS = {
    "add": ("Add two integers.", obj(a=INT, b=INT), {"readOnlyHint": True}),
    "pid": ("The process.", obj(), None),
    "count": ("How often it was called.", obj(), None),
    "append": ("Append an x to a file, then sleep.", obj(path=STR, seconds={"type": "number"}), None),
    "die": ("End the server.", obj(), None),
    "die_once": (
        "End the server after an x in a file, unless there is one already.",
        obj(path=STR),
        {"idempotentHint": True},
    ),
    "freeze": ("Answer nothing any more.", obj(), None),
    "close_output": ("Close standard output and live on.", obj(), None),
    "die_with_child": ("End the server; a child of it keeps the pipes open.", obj(path=STR), None),
    "big": ("Many characters.", obj(n=INT), None),
    "picture": ("Text and an image.", obj(), None),
    "structured": ("Structured content only.", obj(), None),
    "kinds": ("Every kind of content.", obj(), None),
    "fail": ("An error of the tool.", obj(), None),
    "busy": ("An error of the server, with the code that the SDK has for a lost connection.", obj(), None),
    "invalid": ("A result that is none.", obj(), None),
    "take": ("Say what was given.", obj(o={"type": "object"}), None),
    "text": ("Say what was given.", obj(s=STR), None),
    "environment": ("A variable.", obj(variable=STR), None),
    "log": ("Log and report progress.", obj(), None),
    "ask": ("Ask the client's model.", obj(), None),
}
REPLIES = {}


def send(message):
    text = json.dumps({"jsonrpc": "2.0", **message})
    with WRITING:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


PIXEL = base64.b64encode(b"\x89PNG not really").decode()


def call(name, given, meta, request_id):
    global COUNT
    if name == "add":
        return text(str(given["a"] + given["b"]))
    if name == "pid":
        return text(str(os.getpid()))
    if name == "count":
        COUNT += 1
        return text(str(COUNT))
    if name == "append":
        with open(given["path"], "a") as file:
            file.write("x")
        time.sleep(given["seconds"])
        return text("appended")
    if name == "die":
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "die_once":
        with open(given["path"], "a+") as file:
            file.seek(0)
            before = file.read()
            file.write("x")
        if not before:
            os._exit(3)
        return text("survived")
    if name == "freeze":
        WRITING.acquire()
        time.sleep(3600)
    if name == "close_output":
        os.close(1)
        time.sleep(3600)
    if name == "die_with_child":
        child = subprocess.Popen(["sleep", "3600"])
        with open(given["path"], "w") as file:
            file.write(str(child.pid))
        os._exit(4)
    if name == "big":
        return text("x" * given["n"])
    if name == "picture":
        image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
        return {"content": [{"type": "text", "text": "look:"}, image]}
    if name == "structured":
        return {"content": [], "structuredContent": {"x": [1, 2]}}
    if name == "kinds":
        return {
            "content": [
                {"type": "text", "text": "one"},
                {"type": "text", "text": "two"},
                {"type": "audio", "data": PIXEL, "mimeType": "audio/wav"},
                {"type": "resource_link", "name": "page", "uri": "file:///page"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
                {"type": "resource", "resource": {"uri": "file:///b", "blob": PIXEL, "mimeType": "application/pdf"}},
                {"type": "resource", "resource": {"uri": "file:///c", "blob": PIXEL, "mimeType": "image/png"}},
            ]
        }
    if name == "fail":
        return {"content": [{"type": "text", "text": "no such row"}], "isError": True}
    if name == "invalid":
        return {"content": "this is no list"}
    if name == "busy":
        raise BlockingIOError
    if name == "take":
        return text(f"{type(given['o']).__name__} {json.dumps(given['o'])}")
    if name == "text":
        return text(f"{type(given['s']).__name__} {given['s']}")
    if name == "environment":
        return text(os.environ.get(given["variable"], "(unset)"))
    if name == "log":
        send({"method": "notifications/message", "params": {"level": "info", "data": "working"}})
        token = (meta or {}).get("progressToken")
        if token is not None:
            progress = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
            send({"method": "notifications/progress", "params": progress})
        return text("done")
    if name == "ask":
        REPLIES["q"] = threading.Event()
        question = {"role": "user", "content": {"type": "text", "text": "why?"}}
        send({"id": "q", "method": "sampling/createMessage", "params": {"messages": [question], "maxTokens": 9}})
        REPLIES["q"].wait(20)
        return text(json.dumps(REPLIES["answer"]))
    raise LookupError(name)


def answer(message):
    request_id, method, params = message["id"], message["method"], message.get("params") or {}
    if method == "initialize":
        if MODE == "refuse":
            return send({"id": request_id, "error": {"code": -32000, "message": "no room left"}})
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "plain", "version": "1"},
        }
        return send({"id": request_id, "result": result})
    if method == "tools/list":
        names = [] if MODE == "no-tools" else list(TOOLS)
        half = len(names) // 2  # in two pages
        page = names[half:] if params.get("cursor") else names[:half]
        tools = []
        for name in page:
            description, schema, hints = TOOLS[name]
            tools.append({"name": name, "description": description, "inputSchema": schema})
            if hints:
                tools[-1]["annotations"] = hints
        result = {"tools": tools}
        if not params.get("cursor") and names:
            result["nextCursor"] = "2"
        return send({"id": request_id, "result": result})
    if method == "tools/call":
        try:
            result = call(params["name"], params.get("arguments") or {}, params.get("_meta"), request_id)
        except BlockingIOError:
            return send({"id": request_id, "error": {"code": -32000, "message": "busy, try later"}})
        except LookupError:
            return send({"id": request_id, "error": {"code": -32602, "message": "unknown tool"}})
        return send({"id": request_id, "result": result})
    if method == "ping":
        return send({"id": request_id, "result": {}})
    return send({"id": request_id, "error": {"code": -32601, "message": "unknown method"}})


def main():
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MODE == "chatty":
        print("Listening on standard input ...", flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if MODE == "mute":
            continue
        if "method" not in message:
            REPLIES["answer"] = message.get("result") or message.get("error")
            REPLIES[message["id"]].set()
        elif "id" in message:
            threading.Thread(target=answer, args=(message,), daemon=True).start()
    if "FAREWELL" in os.environ:
        with open(os.environ["FAREWELL"], "w") as file:
            file.write("my input was closed")
    while MODE == "stubborn":
        time.sleep(1)
    os._exit(0)


main()
