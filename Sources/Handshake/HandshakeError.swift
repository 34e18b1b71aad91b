import AsyncSupport
public import OAuth

/// What can go wrong while an account is created, stored or used. Each case says who can fix it.
///
/// Functions of this module throw this type, or `CancellationError` when the calling task was cancelled.
public enum HandshakeError: Error, Sendable, Hashable {
    /// The app's set-up cannot be right: the app's fault. Nothing was sent.
    ///
    /// A `problem` of whole sentences is the error's whole text.
    case configuration(member: String, problem: String)

    /// An exchange failed. A check refused it, the server answered with an error, or its answer was not valid.
    case exchange(OAuthError)

    /// The service could not be reached, or did not answer as a peer should. The session is as it was.
    case network(TransportError)

    /// No well-known address of the issuer has usable metadata. The issuer is wrong, or its server is misconfigured.
    case undiscovered(issuer: Issuer, failures: [MetadataFailure])

    /// The API answered a request for a decoded value with an error status.
    case rejected(ErrorResponse)

    /// The vault could not be used. Nothing was deleted.
    case vault(VaultError)

    /// There is no working session: the user has to sign in. Asking again will not help.
    case signInRequired(AccountID, SignInReason)

    /// The server no longer knows the client that it registered (RFC 7591).
    ///
    /// A refresh was answered with `invalid_client`. Only a new registration and a sign-in help. The session stays as it is: its access
    /// token serves until it expires. A registration in the accounts' vault is marked: the next
    /// ``DiscoveredResource/client(registeredAs:redirect:presenting:in:time:)`` registers the app again. Then sign in.
    case clientForgotten(AccountID, ServerError)

    /// A refresh was sent and no answer came back. The service may have replaced the refresh token. The next attempt
    /// finds out; it ends either in the working session or in ``signInRequired(_:_:)``.
    case refreshUncertain(AccountID, TransportError?)

    /// The API demands more than this account's token. It demands further scopes, or a newer or stronger
    /// authentication.
    case demanded(ResourceDemand, status: Int)

    /// The API refuses the request and names other servers than the account's.
    ///
    /// It says so in the document that its refusal announces (RFC 9728).
    /// None of them has got a token, a code or a client of this account, and the grant is still stored. If the user trusts one of
    /// `issuers`, discover `resource` again (``DiscoveredResource``), and sign in there: that makes another account.
    case resourceMoved(AccountID, resource: EndpointURL, issuers: [Issuer])

    /// The service redirected the request more often than is followed.
    case tooManyRedirects(limit: Int)

    /// The token was refreshed, but the request's content was a stream. A stream exists only once: send a new request.
    case contentNotReplayable

    /// The user closed, declined or did not act in time.
    case signInAbandoned(Abandonment)

    /// Why there is no working session.
    public enum SignInReason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The account is not in the vault: it never was, or was signed out.
        case absent
        /// The service refused the refresh token.
        case refreshRejected = "refresh_rejected"
        /// The answer to an earlier refresh was lost. Its refresh token cannot be used again.
        case answerLost = "answer_lost"
        /// The access token cannot be refreshed: there is no refresh token.
        ///
        /// It has expired, was refused, or lives shorter than was asked for.
        case notRefreshable = "not_refreshable"
        /// The key that the tokens are bound to was lost (RFC 9449, section 5). The grant is still stored.
        case keyLost = "key_lost"
        /// The tokens are bound to another certificate than the client's. The grant is still stored, and works with that
        /// certificate. Source: RFC 8705, section 4.
        case certificateChanged = "certificate_changed"
        /// The tokens are not bound to a key, as ``Client/Options/fapi2`` demands.
        case notBound = "not_bound"
        /// The service refuses even the newest token.
        case stillUnauthorized = "still_unauthorized"
        /// A sign-out has begun.
        case signingOut = "signing_out"
        /// The user signed out at the service, which has notified the app. Source: OpenID Connect Back-Channel Logout.
        case loggedOut = "logged_out"
    }

    /// How a sign-in ended without an answer of the service.
    public enum Abandonment: String, Sendable, Hashable {
        /// The user refused (`access_denied`).
        case denied
        /// The user closed the window or interrupted the program.
        case closed
        /// The user did not act in time.
        case timedOut = "timed_out"
    }
}

extension HandshakeError: CustomStringConvertible {
    /// A stable word for programs.
    public var code: String {
        switch self {
        case .configuration: "invalid_configuration"
        case .exchange(let error): error.code
        case .network(let error): error.code
        case .undiscovered(_, let failures):
            Set(failures.map(\.error.code)).count == 1 ? failures[0].error.code : "metadata_not_found"
        case .rejected(let response): response.code
        case .vault(let error): error.code
        case .signInRequired: "sign_in_required"
        case .clientForgotten: "client_forgotten"
        case .refreshUncertain: "refresh_uncertain"
        case .demanded(.scopes, _): "insufficient_scope"
        case .demanded(.stepUp, _): "insufficient_user_authentication"
        case .demanded(.freshToken, _): "invalid_token"
        case .demanded(.boundToken, _): "dpop_required"
        case .resourceMoved: "resource_moved"
        case .tooManyRedirects: "too_many_redirects"
        case .contentNotReplayable: "content_not_replayable"
        case .signInAbandoned(.denied): "access_denied"
        case .signInAbandoned(let how): how.rawValue
        }
    }

    private static func headline(_ issuer: Issuer, _ failures: [MetadataFailure]) -> String {
        guard !failures.isEmpty, failures.allSatisfy({ $0.error.isFromNetwork || $0.isTemporary }) else {
            return "No metadata was found at \(issuer). Check the issuer URL, or state the server's endpoints."
        }
        let isFromNetwork = failures.allSatisfy(\.error.isFromNetwork)
        return "The metadata of \(issuer) could not be fetched." + (isFromNetwork ? " Check the network." : "")
    }

    /// What happened, why, and what to do.
    public var description: String {
        switch self {
        case .configuration(let member, let problem):
            problem.isSentence ? problem : problem.clause.sentence(about: member) + "."
        case .exchange(let error): "\(error)"
        case .network(let error): "\(error)"
        case .undiscovered(let issuer, let failures):
            Self.headline(issuer, failures) + failures.map { "\n  \($0.location): \($0.reason)" }.joined()
        case .rejected(let response): "\(response)"
        case .vault(let error): "\(error)"
        case .signInRequired(let account, .absent): "Sign in to \(account): the vault has no such account."
        case .signInRequired(let account, let reason): "Sign in to \(account) again: \(reason.text)."
        case .clientForgotten(let account, let error):
            "The service no longer knows this app, which was registered there for \(account). Register the app again and sign in."
                + (error.text.map { " The service answered: “\($0)”" } ?? "")
        case .refreshUncertain(let account, let error):
            "The response to the refresh of \(account) was lost. Try again: the session continues, or a sign-in is required."
                + (error.map { " \($0)" } ?? "")
        case .demanded(let demand, let status): "\(demand.problem) (status \(status)). \(demand.cure)"
        case .resourceMoved(let account, let resource, let issuers):
            "\(resource) no longer belongs to \(account.issuer): it names \(issuers.shown) as its server. Nothing of \(account) was sent there. If you trust that server, sign in there."
        case .tooManyRedirects(let limit):
            "The service redirected the request more than \(limit) times. Check the address."
        case .contentNotReplayable:
            "The token was refreshed, but the request's content cannot be sent a second time. Send the request again."
        case .signInAbandoned(.denied): "The user declined access at the service."
        case .signInAbandoned(.closed): "The sign-in was cancelled."
        case .signInAbandoned(.timedOut): "The sign-in was not completed in time. Sign in again."
        }
    }
}

extension HandshakeError {
    /// The member of the configuration that is wrong; nil for other errors.
    package var configurationMember: String? {
        switch self {
        case .configuration(let member, _): member
        case .exchange(let error): error.configurationMember
        default: nil
        }
    }

    private var isFromNetwork: Bool {
        if case .network = self { true } else { false }
    }
}

extension [Issuer] {
    /// The issuers as a text to show.
    package var shown: String { map { quoted($0.string, limit: 200) }.joined(separator: " or ") }
}

extension HandshakeError.SignInReason {
    /// The reason in words.
    package var text: String {
        switch self {
        case .absent: "there is no such account in the vault"
        case .refreshRejected: "the service no longer accepts the refresh token"
        case .answerLost: "the answer to a refresh was lost, and the old refresh token cannot be used again"
        case .notRefreshable: "the access token cannot be refreshed, because there is no refresh token"
        case .keyLost: "the key that its tokens are bound to was lost"
        case .certificateChanged: "its tokens are bound to a certificate that the app does not have now"
        case .notBound: "its tokens are not bound to a key, and the FAPI 2.0 profile (fapi2) demands tokens that are"
        case .stillUnauthorized: "the service rejects new tokens too"
        case .signingOut: "a sign-out has begun and is not finished"
        case .loggedOut: "the user has signed out at the service"
        }
    }
}

extension ResourceDemand {
    /// What the API requires.
    var problem: String {
        switch self {
        case .freshToken: "The service rejected the token"
        case .scopes(let scopes):
            scopes.isEmpty
                ? "The token lacks a scope that the API requires"
                : "The token lacks the scope “\(scopes.joined(separator: " "))”"
        case .boundToken: "The API takes only tokens that are bound to a key (DPoP)"
        case .stepUp(let values, let age, let scopes):
            "The service requires the user to authenticate again"
                + (values.isEmpty ? "" : " by \(values.joined(separator: " "))")
                + (age.map { ", at most \($0) seconds before the request" } ?? "")
                + (scopes.isEmpty ? "" : ", with the scope “\(scopes.joined(separator: " "))”")
        }
    }

    /// What to do.
    fileprivate var cure: String {
        switch self {
        case .freshToken, .stepUp: "Sign in again."
        case .scopes(let scopes): "Sign in again with \(scopes.count == 1 ? "that scope" : "the scopes of that API")."
        case .boundToken: "Sign in again with DPoP."
        }
    }
}
