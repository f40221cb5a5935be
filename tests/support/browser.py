"""Chromium without a window, driven through the pipe of its DevTools protocol."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from select import select
from time import monotonic
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--disable-default-apps", "--no-first-run", "--mute-audio",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 60  # for one answer; a busy machine starts Chromium slowly


def chromium() -> str | None:
    """Return the path of Chromium: CHROME_BIN, else the first on the path; None without one."""
    if os.name != "posix":  # descriptors 3 and 4 are passed as POSIX does
        return None
    return os.environ.get("CHROME_BIN") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a Chromium process, and the events since the page was opened."""

    def __init__(self, program: str, profile: Path) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        self._process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            start_new_session=True,
            preexec_fn=lambda: _connect(to_read, to_write),
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._last = b"", 0
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def _attach(self) -> None:
        """Attach to the first page, and listen to its events."""
        targets = self.call("Target.getTargets")["targetInfos"]
        (page,) = (target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process and all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        text = memoryview(json.dumps(message).encode() + b"\0")
        while text:
            text = text[os.write(self._write, text) :]
        while (answer := self._receive()).get("id") != self._last:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, file: Path, width: int = 1280, height: int = 900) -> None:
        """Open a file in a page of some width, and wait until it is loaded."""
        self.resize(width, height)
        self.events.clear()
        self.call("Page.navigate", url=file.resolve().as_uri())
        while not self.heard("Page.loadEventFired"):
            self.events.append(self._receive())

    def resize(self, width: int, height: int = 900) -> None:
        """Set the size of the page in CSS pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def run(self, script: str) -> Any:
        """Evaluate an expression of JavaScript, awaited if it is a promise, and return it."""
        how = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self.call("Runtime.evaluate", expression=script, **how)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press a key in the focused element; Enter also types a carriage return."""
        keys = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        typed = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **keys, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **keys)

    def click(self, x: float, y: float) -> None:
        """Click a point of the page."""
        point = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mousePressed", **point)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", **point)

    def heard(self, *methods: str) -> list[dict[str, Any]]:
        """Return the parameters of events since the page was opened."""
        return [event["params"] for event in self.events if event.get("method") in methods]

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for."""
        return [sent["request"]["url"] for sent in self.heard("Network.requestWillBeSent")]

    def errors(self) -> list[str]:
        """Return uncaught errors, messages of the console, and entries of the browser's log."""
        return [
            json.dumps(event)
            for event in self.heard(
                "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"
            )
        ]

    def _receive(self) -> dict[str, Any]:
        """Return the next message, an answer or an event."""
        end = monotonic() + SECONDS
        while b"\0" not in self._buffer:
            if not select([self._read], [], [], max(0, end - monotonic()))[0]:
                raise TimeoutError(f"no answer of Chromium in {SECONDS} s")
            if not (piece := os.read(self._read, 1 << 20)):
                raise ConnectionError("Chromium has ended")
            self._buffer += piece
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


def _connect(to_read: int, to_write: int) -> None:
    """Make the ends of two pipes the descriptors 3 and 4, where Chromium reads and writes."""
    from fcntl import F_DUPFD, fcntl  # not on Windows

    ends = [fcntl(end, F_DUPFD, 5) for end in (to_read, to_write)]  # an end may be 3 or 4 itself
    os.dup2(ends[0], 3)
    os.dup2(ends[1], 4)
