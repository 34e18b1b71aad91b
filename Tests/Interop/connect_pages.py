"""IFTTT's pages, gone through without a browser."""

import re
from typing import Any
from urllib.parse import urljoin

import requests


class Visitor:
    """A browser in IFTTT's pages: cookies, forms, and where it is sent at the end."""

    def __init__(self, user: dict[str, Any]) -> None:
        self.user, self.session = user, requests.Session()

    def walk(self, url: str, *, outcome: str | None = None) -> str:
        answer = self.session.get(url, allow_redirects=False, timeout=10)
        for _ in range(40):
            while answer.is_redirect:
                target = urljoin(answer.url, answer.headers["Location"])
                if "/connect_callback?" in target:
                    return target
                answer = self.session.get(target, allow_redirects=False, timeout=10)
            answer = self.submit(answer, outcome)
        raise AssertionError("no way through IFTTT's pages")

    def submit(self, page: requests.Response, outcome: str | None) -> requests.Response:
        assert page.status_code == 200, page.text
        form = re.search(r'<form method="post" action="([^"]*)">(.*?)</form>', page.text, re.S)
        assert form, page.text
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form[2]))
        if outcome:
            fields["outcome"] = outcome
        elif "Check your mail" in page.text:
            fields["do"] = "password"
        elif 'name="password"' in form[2]:
            fields |= {"do": "sign_in", "name": self.user["email"], "password": self.user["password"], "username": self.user["email"]}
        else:
            for name, options in re.findall(r'<select id="[^"]*" name="([^"]+)".*?>(.*?)</select>', form[2], re.S):
                fields[name] = re.findall(r'value="([^"]+)"', options)[0]
            fields |= dict(re.findall(r'<input id="[^"]*" name="([^"]+)" type="text"[^>]*? ?value="([^"]*)"', form[2]))
            fields |= {name: "on" for name in re.findall(r'<input id="[^"]*" name="([^"]+)" type="checkbox" value="on" checked', form[2])}
            buttons = re.findall(r'<button type="submit"[^>]*name="(do|decision|action)" value="([^"]+)"', form[2])
            fields |= dict(buttons[:1])
        return self.session.post(urljoin(page.url, form[1].replace("&amp;", "&")), data=fields, allow_redirects=False, timeout=10)
