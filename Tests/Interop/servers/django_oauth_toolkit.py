"""django-oauth-toolkit as an OAuth 2.0 and OpenID provider.

Everything but the settings, the clients and the protected resources is the library's and Django's: PKCE demanded,
RFC 9207 `iss`, RFC 8414 metadata, refresh rotation with reuse detection, introspection, revocation, client credentials.
User: alice / wonderland1. Loopback redirects match with any port (RFC 8252 section 7.3).
"""

import secrets
import subprocess

import host

parser = host.arguments(__doc__ or "")
options = parser.parse_args()
options.state.mkdir(parents=True, exist_ok=True)
listener = host.listen()
base = f"http://127.0.0.1:{listener.getsockname()[1]}"
key = options.state / "rsa.pem"
subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key],
               check=True, capture_output=True)

import django  # noqa: E402
from django.conf import settings  # noqa: E402


def canary(request: object = None, refresh_token: bool = False) -> str:
    """A token that `scan_output.py` knows at sight."""
    return "canary-" + secrets.token_hex(16)


provider = {
    "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": key.read_text(), "OIDC_ISS_ENDPOINT": f"{base}/o",
    "SCOPES": {"openid": "OpenID", "profile": "Profile", "email": "E-mail", "api": "API", "introspection": "Introspection"},
    "DEFAULT_SCOPES": ["api"], "PKCE_REQUIRED": True, "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True, "ALLOW_LOCALHOST_LOOPBACK": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True, "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "OAUTH_DEVICE_VERIFICATION_URI": f"{base}/o/device/",
    "ACCESS_TOKEN_GENERATOR": canary, "REFRESH_TOKEN_GENERATOR": canary,
} | host.settings(options.setting)
usual = provider.get("ACCESS_TOKEN_EXPIRE_SECONDS", 36_000)


def lifetime(request: object = None) -> int:
    """Seconds: as it was set, or as a test wants it for a while (`Stranger.living`)."""
    try:
        return int((options.state / "lifetime").read_text())
    except FileNotFoundError:
        return usual


provider["ACCESS_TOKEN_EXPIRE_SECONDS"] = lifetime
settings.configure(
    DEBUG=False, SECRET_KEY=secrets.token_hex(32), ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__, USE_TZ=True,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions",
                    "django.contrib.messages", "django.contrib.admin", "oauth2_provider"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
                "django.contrib.auth.middleware.AuthenticationMiddleware",
                "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True,
                "OPTIONS": {"context_processors": ["django.template.context_processors.request",
                                                   "django.contrib.auth.context_processors.auth",
                                                   "django.contrib.messages.context_processors.messages"]}}],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": options.state / "db.sqlite3",
                           "OPTIONS": {"timeout": 20}}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", LOGIN_URL="/login/", STATIC_URL="/static/",
    OAUTH2_PROVIDER=provider, PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    LOGGING={"version": 1, "disable_existing_loggers": False, "root": {"handlers": ["stream"], "level": "INFO"},
             "handlers": {"stream": {"class": "logging.StreamHandler"}}},
)
django.setup()

from django.contrib.auth import get_user_model, views  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpRequest, JsonResponse  # noqa: E402
from django.urls import include, path  # noqa: E402
from django.views.decorators.csrf import csrf_exempt  # noqa: E402
from oauth2_provider import urls as oauth2_urls  # noqa: E402
from oauth2_provider.decorators import protected_resource  # noqa: E402
from oauth2_provider.models import AccessToken, get_application_model  # noqa: E402
from oauth2_provider.oauth2_backends import get_oauthlib_core  # noqa: E402


def protected(request: HttpRequest, *scopes: str) -> JsonResponse:
    """A resource as RFC 6750 section 3 wants it. (The library's own decorator answers 403 to everything, with no challenge.)"""
    valid, checked = get_oauthlib_core().verify_request(request, scopes=list(scopes))
    if valid:
        return JsonResponse({"username": checked.user.username if checked.user else None, "method": request.method,
                             "body": request.body.decode("utf-8", "replace"), "scope": checked.access_token.scope})
    token = AccessToken.objects.filter(token=request.headers.get("Authorization", "").removeprefix("Bearer ")).first()
    error, status = ("insufficient_scope", 403) if token and token.is_valid() else ("invalid_token", 401)
    challenge = f'Bearer realm="interop", error="{error}", scope="{" ".join(scopes)}"'
    return JsonResponse({"error": error}, status=status, headers={"WWW-Authenticate": challenge})


@csrf_exempt
def whoami(request: HttpRequest) -> JsonResponse:
    return protected(request)


def api(request: HttpRequest) -> JsonResponse:
    return protected(request, "api")


@protected_resource()
def decorated(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"username": request.resource_owner.username})


urlpatterns = [
    path("login/", views.LoginView.as_view(template_name="admin/login.html")),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("", include((oauth2_urls.metadata_urlpatterns, "oauth2_meta"))),
    path("admin/", __import__("django.contrib.admin", fromlist=["site"]).site.urls),
    path("whoami", whoami), path("api", api), path("decorated", decorated),
]

# Form-encoding of Basic credentials (RFC 6749 section 2.3.1) shows only with a secret that holds reserved characters.
SECRETS = {"web": canary(), "service": canary(), "reserved": canary() + " +%2F/=&:é"}
CLIENTS = [("native", "public", "authorization-code"), ("device", "public", "urn:ietf:params:oauth:grant-type:device_code"),
           ("web", "confidential", "authorization-code"),
           ("reserved", "confidential", "authorization-code"), ("service", "confidential", "client-credentials")]

call_command("migrate", verbosity=0)
user = get_user_model().objects.create_user("alice", "alice@example.com", "wonderland1", first_name="Alice", is_staff=True)
for client_id, kind, grant in CLIENTS:
    get_application_model().objects.create(
        client_id=client_id, client_secret=SECRETS.get(client_id, ""), client_type=kind, authorization_grant_type=grant,
        name=client_id, user=user, redirect_uris=" ".join(options.redirect_uri or ["http://127.0.0.1/callback"]),
        algorithm="RS256")

server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler, bind_and_activate=False)
server.socket.close()
server.socket, server.server_address = listener, listener.getsockname()
server.server_name, server.server_port = server.server_address
server.setup_environ()
server.set_app(host.Recorder(get_wsgi_application(), options.state))
host.announce(issuer=f"{base}/o", origin=base, secrets={name: SECRETS[name] for name, _, _ in CLIENTS if name in SECRETS},
              token_path="/o/token/", user="alice", password="wonderland1")
server.serve_forever()
