#if Sandbox
/// A misbehaviour with a name. It stands for one or more changes of a signed text.
public struct NamedFault: Sendable, Equatable {
    /// The name, such as `id-token:wrong-nonce`.
    public let name: String
    /// What the sandbox does.
    public let note: String
    /// The route of the rule, such as `standard POST /token`.
    let route: String
    let kind: SignedTextKind
    /// The changes, each as a rule spells it.
    let changes: [String]

    /// The rules that do the same, one for each change. They can be narrowed, or given other values.
    public var rules: [String] { changes.map { "\(route) => \(kind.rawValue) \($0)" } }

    /// All named faults, by kind of text.
    public static let all: [NamedFault] = kinds.flatMap { kind in
        (signatures + kind.defects).map { defect in
            NamedFault(
                name: "\(kind.name):\(defect.name)", note: "\(kind.noun): \(defect.note)", route: kind.route,
                kind: kind.kind, changes: defect.changes)
        }
    }

    var json: JSON {
        ["name": .string(name), "note": .string(note), "rules": JSON(rules)]
    }

    static func named(_ name: String) -> NamedFault? {
        all.first { $0.name == name }
    }

    private struct Defect {
        let name: String
        let note: String
        let changes: [String]

        init(_ name: String, _ note: String, _ changes: String...) {
            self.name = name
            self.note = note
            self.changes = changes
        }
    }

    private struct Kind {
        let name: String
        let noun: String
        let route: String
        let kind: SignedTextKind
        let defects: [Defect]
    }

    /// What may be wrong with every signature (RFC 8725 sections 2.1, 2.6 and 3.1).
    private static let signatures = [
        Defect("wrong-key", "signed by a key that is not published, under the published key's name", "sign other"),
        Defect("unknown-key", "signed by a key that is not published, under its own name", "sign unknown"),
        Defect("bad-signature", "one bit of the signature is another", "sign damaged"),
        Defect("alg-none", "not signed, alg is none", "sign none"),
        Defect("hs256", "HS256 with the public key as the secret", "sign HS256"),
        Defect("wrong-algorithm", "signed by a published RSA key, by an algorithm that was not agreed", "sign RS256"),
        Defect("critical-header", "the header demands an extension that no client knows", #"header crit ["sandbox"]"#),
        Defect("another-kind", "the type of an access token (RFC 9068)", "header typ at+jwt"),
    ]

    private static let issuer = Defect("wrong-issuer", "another issuer", "claim iss https://other.example")
    private static let noIssuer = Defect("no-issuer", "no issuer", "claim iss -")
    private static let audience = Defect("wrong-audience", "for another client", "claim aud another-client")
    private static let noAudience = Defect("no-audience", "no audience", "claim aud -")
    private static let secondAudience = Defect(
        "second-audience", "for sandbox-public and for another client",
        #"claim aud ["sandbox-public","another-client"]"#)
    private static let subject = Defect("wrong-subject", "about another user", "claim sub another-user")
    private static let noSubject = Defect("no-subject", "no subject", "claim sub -")
    private static let expired = Defect("expired", "a day late", "late 86400")
    private static let future = Defect("future", "issued a day ahead", "late -86400")
    private static let noExpiry = Defect("no-expiry", "no expiry", "claim exp -")
    private static let noTime = Defect("no-issue-time", "no time of issue", "claim iat -")
    private static let doubledIssuer = Defect("doubled-issuer", "the issuer stands there twice", "claim iss x2")
    private static let doubledAudience = Defect("doubled-audience", "the audience stands there twice", "claim aud x2")

    private static let kinds = [
        Kind(
            name: "id-token", noun: "ID token", route: "standard POST /token", kind: .idToken,
            defects: [
                issuer, noIssuer, doubledIssuer, audience, noAudience, secondAudience, doubledAudience, noSubject,
                expired, future, noExpiry, noTime,
                Defect("wrong-nonce", "another nonce", "claim nonce wrong"),
                Defect("no-nonce", "no nonce", "claim nonce -"),
                Defect("doubled-nonce", "the nonce stands there twice", "claim nonce x2"),
                Defect("wrong-at-hash", "the hash of another access token", "claim at_hash AAAAAAAAAAAAAAAAAAAAAA"),
            ]),
        Kind(
            name: "response", noun: "authorization response (JARM)", route: "standard /authorize*", kind: .response,
            defects: [
                issuer, noIssuer, doubledIssuer, audience, noAudience, doubledAudience, expired, noExpiry,
                Defect("wrong-state", "the state of another request", "claim state another-state"),
                Defect("no-state", "no state", "claim state -"),
                Defect("doubled-code", "the code stands there twice", "claim code x2"),
            ]),
        Kind(
            name: "userinfo", noun: "signed user information", route: "standard /userinfo", kind: .userInfo,
            defects: [
                issuer, noIssuer, doubledIssuer, audience, noAudience, doubledAudience, subject, noSubject,
                Defect("doubled-subject", "the subject stands there twice", "claim sub x2"),
            ]),
        Kind(
            name: "introspection", noun: "signed introspection", route: "standard POST /introspect",
            kind: .introspection,
            defects: [
                issuer, noIssuer, doubledIssuer, audience, noAudience, doubledAudience, future, noTime,
                Defect("no-answer", "nothing about the token", "claim token_introspection -"),
                Defect("plain-type", "the type of any signed text", "header typ JWT"),
            ]),
        Kind(
            name: "logout-token", noun: "logout token", route: "standard POST /_sandbox/logout-token",
            kind: .logoutToken,
            defects: [
                issuer, noIssuer, doubledIssuer, audience, noAudience, doubledAudience, expired, future, noExpiry,
                noTime, Defect("no-identifier", "no jti", "claim jti -"),
                Defect("no-user-or-session", "neither a user nor a session", "claim sub -", "claim sid -"),
                Defect("no-event", "no event", "claim events -"),
                Defect("doubled-event", "the events stand there twice", "claim events x2"),
                Defect("nonce", "a nonce, as ID tokens have", "claim nonce n-1"),
                Defect(
                    "id-token", "an ID token in its place", "header typ JWT", "claim events -", "claim jti -",
                    "claim nonce n-1"),
            ]),
    ]
}
#endif
