"""oidc-provider-mock, which is lenient: any client, any secret, PKCE neither announced nor checked, one key, which no ID token names.

What it accepts proves nothing; that a sign-in works there shows that the command needs none of what it leaves out. `--setting`
takes `registration`: whether only clients that have registered themselves are known.
"""

import host

options = host.arguments(__doc__ or "").parse_args()
options.state.mkdir(parents=True, exist_ok=True)
settings = {"registration": False} | host.settings(options.setting)
listener = host.listen()
port = listener.getsockname()[1]
base = f"http://127.0.0.1:{port}"

import oidc_provider_mock  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

user = oidc_provider_mock.User(sub="alice", claims={"email": "alice@example.com", "name": "Alice Example"})
app = oidc_provider_mock.app(user_claims=[user], require_client_registration=settings["registration"])
app.debug = False
serving = make_server("127.0.0.1", port, host.Recorder(app, options.state), threaded=True, fd=listener.fileno())
host.announce(issuer=base, origin=base, secrets={}, token_path="/oauth2/token", user="alice", password="")
serving.serve_forever()
