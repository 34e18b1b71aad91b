"""What a server tells of an account's token (RFC 7662): `inspect --introspect`."""

from command import Handshake
from stand_in import StandIn
from strangers import Stranger, http


def introspections(server: Stranger) -> list[dict[str, object]]:
    return [asked for asked in server.requests() if "introspect" in asked["path"]]


def test_django_tells_of_a_token_until_it_is_revoked(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid api", client="web", secret=django.secret("web"))
    before, refreshed = len(introspections(django)), len(django.requests(django.facts["token_path"], "refresh_token"))
    told = handshake.run("inspect", "mine", "--introspect", "plain", "--json").ok().json["introspection"]
    sent, = introspections(django)[before:]
    assert sent["method"] == "POST" and sent["authorization"] == "basic" and sent["status"] == 200
    token = handshake.token("mine")
    asked = django.introspect(token)
    assert told["active"] is True and told["client_id"] == "web" and told["exp"] == asked["exp"]
    assert set(told["scope"].split()) == set(asked["scope"].split()) and told.get("username") == asked.get("username")
    assert "introspection client_id" in handshake.run("inspect", "mine", "--introspect", "plain").ok().stdout
    http().post(django.metadata()["revocation_endpoint"], timeout=10, auth=("web", django.secret("web")),
                data={"token": token, "token_type_hint": "access_token"})
    assert handshake.run("inspect", "mine", "--introspect", "plain", "--json").ok().json["introspection"] == {"active": False}
    assert len(django.requests(django.facts["token_path"], "refresh_token")) == refreshed, "asking refreshes nothing"


def test_a_plain_answer_is_none_where_a_signed_one_is_wanted(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid", client="web", secret=django.secret("web"))
    refused = handshake.run("inspect", "mine", "--introspect", "signed", "--json")
    assert (refused.status, refused.error["code"], refused.stdout) == (5, "malformed_response", ""), refused


def test_a_client_without_a_secret_asks_nothing(handshake: Handshake, django: Stranger) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    before = len(introspections(django))
    refused = handshake.run("inspect", "mine", "--introspect", "plain", "--json")
    assert refused.status == 64 and "secret, key or certificate" in refused.error["message"], refused
    assert len(introspections(django)) == before


def test_a_signed_answer_of_the_sandbox_is_checked(handshake: Handshake, own_sandbox: StandIn) -> None:
    facts = own_sandbox.standard
    handshake.run("login", "robot", "--grant", "client-credentials", "--issuer", facts["origin"], "--client-id", "sandbox-service",
                  "--client-secret-file", "-", "--scope", "api", stdin="sandbox-service-secret\n").ok()
    for form in ("plain", "signed"):
        told = handshake.run("inspect", "robot", "--introspect", form, "--json").ok().json["introspection"]
        assert told["active"] is True and told["client_id"] == "sandbox-service" and told["scope"] == "api"
