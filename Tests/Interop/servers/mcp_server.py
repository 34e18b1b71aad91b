"""A server of the Model Context Protocol (the Python SDK) that protects its tools and is its own authorization server.

The SDK's handlers speak on the wire; who may sign in, and what for, is decided here: everybody, without a page. `--setting` takes
`registration`: whether apps may register themselves. While the file `purge` exists in the state's folder, the next request to the
token endpoint removes it and finds no client known.
"""

import io
import secrets
import time
from typing import Any

import host

options = host.arguments(__doc__ or "").parse_args()
options.state.mkdir(parents=True, exist_ok=True)
settings = {"registration": True} | host.settings(options.setting)
listener = host.listen()
base = f"http://127.0.0.1:{listener.getsockname()[1]}"

import uvicorn  # noqa: E402
from mcp.server.auth.provider import (  # noqa: E402
    AccessToken, AuthorizationCode, AuthorizationParams, RefreshToken, construct_redirect_uri)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions  # noqa: E402
from mcp.server.mcpserver import MCPServer  # noqa: E402
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken  # noqa: E402

SCOPES = ["tools:read", "tools:call", "offline_access"]


class Everybody:
    """Signs every user in and keeps what was given out in memory."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32), scopes=params.scopes or [], expires_at=time.time() + 60,
            client_id=str(client.client_id), code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource)
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(self, client: OAuthClientInformationFull, code: str) -> AuthorizationCode | None:
        return self.codes.get(code)

    async def exchange_authorization_code(self, client: OAuthClientInformationFull, code: AuthorizationCode) -> OAuthToken:
        del self.codes[code.code]
        return self._tokens(str(client.client_id), code.scopes, code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
            self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]) -> OAuthToken:
        del self.refresh[refresh_token.token]
        return self._tokens(str(client.client_id), refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _tokens(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access = AccessToken(token=secrets.token_urlsafe(32), client_id=client_id, scopes=scopes,
                             expires_at=int(time.time()) + 3_600, resource=resource)
        refresh = RefreshToken(token=secrets.token_urlsafe(32), client_id=client_id, scopes=scopes, resource=resource)
        self.access[access.token], self.refresh[refresh.token] = access, refresh
        return OAuthToken(access_token=access.token, token_type="Bearer", expires_in=3_600, scope=" ".join(scopes),
                          refresh_token=refresh.token)


everybody = Everybody()
server = MCPServer(
    "Sums", auth_server_provider=everybody, log_level="WARNING",
    auth=AuthSettings(
        issuer_url=base, resource_server_url=base + "/mcp", validate_token_resource=True,  # type: ignore[arg-type]
        required_scopes=["tools:read"], revocation_options=RevocationOptions(enabled=True),
        client_registration_options=ClientRegistrationOptions(enabled=settings["registration"], valid_scopes=SCOPES)))


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


class Recorded:
    """The record of `host.Recorder`, for ASGI."""

    def __init__(self, app: Any) -> None:
        self.app, self.recorder = app, host.Recorder(lambda *_: [], options.state)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        purge = options.state / "purge"
        if scope["path"] == "/token" and purge.exists():
            purge.unlink()
            everybody.clients.clear()
        fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        body, answer, status = b"", b"", [0]
        headers: list[tuple[str, str]] = []
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        rest = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Any:
            return rest.pop() if rest else await receive()

        async def note(message: dict[str, Any]) -> None:
            nonlocal answer
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                headers.extend((name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"])
            answer += message.get("body", b"")
            await send(message)

        await self.app(scope, replay, note)
        environ = {
            "REQUEST_METHOD": scope["method"], "PATH_INFO": scope["path"], "QUERY_STRING": scope["query_string"].decode(),
            "HTTP_AUTHORIZATION": fields.get("authorization", ""), "HTTP_USER_AGENT": fields.get("user-agent"),
            "CONTENT_TYPE": fields.get("content-type", ""), "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
        form = host.parse_qs(body.decode("latin-1"), keep_blank_values=True) if self.recorder._is_form(environ) else {}
        self.recorder._keep_secrets(environ, form)
        self.recorder._keep_answer(headers, answer)
        self.recorder._note(environ, form, status[0])
        with (options.state / "resources").open("a") as file:
            file.writelines(f"{scope['path']} {value}\n" for value in form.get("resource", []))


host.announce(issuer=base, origin=base, resource=base + "/mcp", secrets={}, token_path="/token")
uvicorn.Server(uvicorn.Config(Recorded(server.streamable_http_app(json_response=True, stateless_http=True)),
                              log_level="warning")).run(sockets=[listener])
