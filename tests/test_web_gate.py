"""Who is let in to the page: this computer, its own pages, and who has the link."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx2
import pytest

from lancebrain.errors import UsageError
from lancebrain.service.loopback import listen
from tests.paged import TOKEN, Page, served
from tests.trees import write_tree


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    tmp_path = tmp_path_factory.mktemp("gate")
    notes = write_tree(tmp_path / "notes", {"a.md": "# A\n\nThe quokka smiles.\n"})
    with served(tmp_path, notes) as page:
        yield page


def test_without_the_cookie_the_index_tells_nothing(page: Page) -> None:
    with page.client(enters=False) as client:
        for path in ("/api/search?q=quokka", "/api/beats", "/api/status", "/api/nothing"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["error"]) == (401, "no-cookie")
            assert "quokka" not in refused.text


def test_a_wrong_token_is_refused_and_gives_no_cookie(page: Page) -> None:
    with page.client(enters=False) as client:
        for token in ("wrong", TOKEN, "", "ü"):
            refused = client.get("/", params={"token": token})
            assert refused.status_code == 403
            assert "set-cookie" not in refused.headers


def test_the_link_gives_a_strict_cookie_and_goes_out_of_the_address(page: Page) -> None:
    with page.client(enters=False) as client:
        entered = client.get(f"{page.link}&q=quokka")
        assert (entered.status_code, entered.headers["location"]) == (303, "/?q=quokka")
        cookie = entered.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "Domain" not in cookie
        # Other servers of this computer are sent it too: it must not be the token.
        assert TOKEN not in cookie
        assert page.link.partition("token=")[2] not in cookie
        assert client.get("/api/status").status_code in (200, 404)


def test_another_name_that_points_here_is_refused(page: Page) -> None:
    with page.client() as client:
        for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example"):
            refused = client.get("/", headers={"Host": host})
            assert refused.status_code == 421
        port = page.url.rpartition(":")[2]
        assert client.get("/", headers={"Host": f"LocalHost:{port}"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_page_may_not_ask(page: Page, headers: dict[str, str]) -> None:
    with page.client() as client:
        assert client.get("/api/status", headers=headers).json()["error"] == "forbidden"
        refused = client.post("/api/rollback", json={"ref": "1"}, headers=headers)
        assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")


def test_what_changes_anything_has_to_say_where_it_comes_from(page: Page) -> None:
    with page.client() as client:
        without = httpx2.Client(base_url=page.url, cookies=client.cookies)
        refused = without.post("/api/rollback", json={"ref": "1"})
        assert refused.json()["error"] == "forbidden"


def test_no_answer_lets_markup_or_scripts_of_elsewhere_in(page: Page) -> None:
    with page.client() as client:
        for path in ("/", "/static/js/main.js", "/api/status", "/nowhere", "/?token=wrong"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "require-trusted-types-for 'script'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
        assert client.get("/api/status").headers["cache-control"] == "no-store"


def test_the_page_itself_is_there_for_everyone_and_nothing_beside_it(page: Page) -> None:
    with page.client(enters=False) as client:
        for path in ("/", "/timeline", "/map", "/health", "/static/page.css"):
            answer = client.get(path)
            assert answer.status_code == 200
            again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        for name in ("../pages.py", "..%2fpages.py", "js/../../gate.py", "%2e%2e/gate.py", ""):
            assert client.get(f"/static/{name}").status_code == 404


def test_the_icon_is_not_asked_for_again_with_every_address(page: Page) -> None:
    with page.client(enters=False) as client:
        assert "max-age" in client.get("/static/icon.svg").headers["cache-control"]
        assert client.get("/static/page.css").headers["cache-control"] == "no-cache"


def test_an_answer_does_not_wait_until_its_head_was_received() -> None:
    with listen("127.0.0.1", 0) as on, socket.create_connection(on.getsockname()):
        accepted, _ = on.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_it_listens_to_this_computer_alone() -> None:
    for host in ("0.0.0.0", "192.168.0.7", "example.org"):
        with pytest.raises(UsageError, match="other computers"):
            listen(host, 0)


def test_a_port_that_is_taken_is_told(page: Page) -> None:
    with pytest.raises(UsageError, match="cannot be had"):
        listen("127.0.0.1", int(page.url.rpartition(":")[2]))
