#if Sandbox
import Mustache

extension Pages {
    private struct Consent {
        let client: String
        let brand: String
        let user: String
        let action: String
        let formID: String
        let formToken: String
        let buildID: String
        let allow: String
        let refuse: String
        let switchAccount: String
        let scopes: [String]
        let facts: [String]
        let destination: String
    }

    /// The page that asks the signed-in user for consent.
    func consent(_ authorization: PendingAuthorization, user: SandboxUser, formToken: String) -> Answer {
        let view = Consent(
            client: authorization.client.id, brand: dialect.title, user: user.displayName,
            action: authorization.target, formID: AuthorizationEndpoint.consentForm, formToken: formToken,
            buildID: "form-" + RandomText.base64URL(bytes: 12), allow: dialect.wording.allow,
            refuse: dialect.wording.refuse, switchAccount: AuthorizationEndpoint.switchAccount,
            scopes: authorization.scope.map { dialect.wording.scopes[$0] ?? dialect.wording.otherScope($0) },
            facts: dialect.wording.facts,
            destination: Self.destination(authorization))
        return page(
            "Allow access", Template.consent.render(view), formTargets: Self.formTargets(authorization))
    }

    private static func destination(_ authorization: PendingAuthorization) -> String {
        authorization.redirectURI == PendingAuthorization.outOfBand
            ? "a page that shows a code to copy" : authorization.redirectURI
    }
}
#endif
