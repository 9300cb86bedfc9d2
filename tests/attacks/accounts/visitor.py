"""A person with a browser, over the wire: an employee, or somebody who attacks one."""

import os
import re
import secrets
import subprocess
from base64 import b32decode
from dataclasses import dataclass, field
from typing import Any

import httpx2

from gatepass.base.clock import system_clock
from gatepass.domain.staff import one_time_code
from gatepass.studio.web import cookies
from tests.authenticator import Authenticator
from tests.processes import GatepassProcess

# One for all visitors, because making one takes long. It keeps no cookies.
CLIENT = httpx2.Client(timeout=60)
PASSWORD = "umbrella piano forest nine"
LINK = re.compile(r"https?://[^/\s\"<]+(/studio/(?:welcome|link)/(?:[a-z]\.)?[\w-]+)")


@dataclass
class Visitor:
    """A browser with an address of its own, so that one's failed tries do not slow another. `cookie` is the session.

    One that `confirms` does so when it is asked, after ten minutes, and goes on.
    """

    server: GatepassProcess
    cookie: str = ""
    confirms: bool = False
    address: str = field(default_factory=lambda: f"2001:db8:{secrets.token_hex(2)}:{secrets.token_hex(2)}::1")

    def send(self, method: str, path: str, **fields: Any) -> httpx2.Response:
        """A request as a browser makes it. `path` without a slash is of the organization, live unless it says."""
        url = self.server.url + (path if path.startswith("/") else self._page(path))
        headers = {"Sec-Fetch-Site": "same-origin", "X-Forwarded-For": self.address}
        if self.cookie:
            headers["Cookie"] = f"{cookies.SESSION}={self.cookie}"
        answer = CLIENT.request(method, url, headers=headers, data=fields or None)
        CLIENT.cookies.clear()
        self.cookie = answer.cookies.get(cookies.SESSION) or self.cookie
        if self.confirms and answer.headers.get("location", "").startswith("/studio/confirm"):
            assert self.post("/studio/confirm", password=PASSWORD).status_code == 303
            return self.send(method, path, **fields)
        return answer

    def _page(self, path: str) -> str:
        """The address as the menu has it: of the organization in which the session works now."""
        mode, _, rest = path.partition("/") if path.startswith(("live/", "sandbox/")) else ("live", "", path)
        headers = {"Cookie": f"{cookies.SESSION}={self.cookie}", "X-Forwarded-For": self.address}
        home = CLIENT.get(f"{self.server.url}/studio/{mode}/home", headers=headers).headers["location"]
        CLIENT.cookies.clear()
        return f"{home.removesuffix('/home')}/{rest}" if home.startswith("/studio/o/") else f"/studio/{mode}/{rest}"

    def get(self, path: str) -> httpx2.Response:
        return self.send("GET", path)

    def post(self, path: str, **fields: Any) -> httpx2.Response:
        return self.send("POST", path, **fields)

    def sign_up(self, link: str, password: str, name: str = "Somebody") -> httpx2.Response:
        return self.post(link, name=name, password=password)

    def sign_in(self, email: str, password: str) -> bool:
        return self.post("/studio/sign-in", email=email, password=password).status_code == 303

    def sign_in_with_code(self, email: str, password: str, code: str) -> bool:
        page = self.post("/studio/sign-in", email=email, password=password).text
        asked = page.partition('name="asked" value="')[2].partition('"')[0]
        return bool(asked) and self.post("/studio/sign-in/code", asked=asked, code=code).status_code == 303

    def sign_in_with_passkey(self, phone: Authenticator) -> bool:
        options = self.post("/studio/sign-in/passkey/options").text
        answer = self.post("/studio/sign-in/passkey", answer=phone.get(options))
        return answer.status_code == 303

    def add_passkey(self, path: str = "/studio/account/passkeys") -> Authenticator:
        phone = Authenticator(origin=self.server.url.replace("127.0.0.1", "localhost"), rp_id="localhost")
        options = self.post(f"{path}/options").text
        assert self.post(path, answer=phone.create(options)).status_code == 303
        return phone

    def turn_codes_on(self) -> tuple[bytes, list[str]]:
        """The seed of the authenticator app, and the recovery codes."""
        assert self.post("/studio/account/codes/begin").status_code == 303
        page = self.get("/studio/account/codes").text
        found = re.search(r'<span class="mono">([A-Z2-7]{32})</span>', page)
        assert found is not None
        seed = b32decode(found[1])
        page = self.post("/studio/account/codes", code=code_now(seed, -1)).text
        return seed, re.findall(r"[a-z2-9]{4}(?:-[a-z2-9]{4}){6}", page)

    def invite(self, email: str, role: str = "viewer") -> str:
        """The path of the link."""
        return link_in(self.post("team/invite", email=email, role=role).text)

    def member_id(self, email: str) -> str:
        """The id of this member, from the list of the team."""
        row = next(row for row in self.get("team").text.split("<tr>")[1:] if email in row)
        return row.partition("/team/")[2].partition('"')[0]

    def remove(self, email: str) -> httpx2.Response:
        return self.post(f"team/{self.member_id(email)}/remove")


def link_in(text: str) -> str:
    found = LINK.search(text)
    assert found is not None, text[:2000]
    return found[1]


def code_now(seed: bytes, steps: int = 0) -> str:
    return one_time_code.code_of(seed, one_time_code.step_of(system_clock()) + steps)


@dataclass
class World:
    """A server, its operator's command line, an organization of Mallory's, and another one, BigCo, with an owner."""

    server: GatepassProcess
    command: list[str]
    env: dict[str, str]
    mallory: Visitor
    bigco: Visitor
    addresses: int = 0

    def operator(self, *arguments: str) -> str:
        environment = {**os.environ, **self.env, "GATEPASS_PUBLIC_URL": self.server.url}
        return subprocess.run(
            [*self.command, *arguments], env=environment, check=True, capture_output=True, text=True
        ).stdout

    def visitor(self) -> Visitor:
        return Visitor(self.server)

    def new_address(self) -> str:
        self.addresses += 1
        return f"ceo{self.addresses}.{self.server.port}@bigco.example"


def make_world(server: GatepassProcess, command: list[str], env: dict[str, str]) -> World:
    """Both organizations, made by the operator."""
    made = World(server, command, env, Visitor(server, confirms=True), Visitor(server, confirms=True))
    for visitor, name in ((made.mallory, "Mallory Ltd"), (made.bigco, "BigCo")):
        address = f"{name.split()[0].lower()}.{server.port}@example.org"
        link = link_in(made.operator("organization", "create", name, "--owner", address))
        assert visitor.sign_up(link, PASSWORD, name=f"Owner of {name}").status_code == 303
    return made
