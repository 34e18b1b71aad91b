#if Sandbox
public import SandboxCore

extension SandboxService.Name {
    /// IFTTT Connect with a partner service (IFTTT Connect dossier, section 11).
    public static let ifttt = SandboxService.Name(rawValue: "ifttt")
}

extension SandboxService {
    /// What apps and partners need to know at IFTTT; nil everywhere else.
    public var connect: SandboxConnect? {
        name == .ifttt ? SandboxConnect() : nil
    }
}

extension Sandbox {
    /// IFTTT Connect and its partner service.
    public var ifttt: SandboxService {
        standIn(IFTTTStandIn.self).service
    }

    /// Restores IFTTT's fixtures and clears everything else there. That is its logs, requests and fault rules, and the
    /// partner's tokens.
    ///
    /// The clock, and fault rules that concern every service, belong to all and stay.
    ///
    /// - Parameter seed: with one, what IFTTT itself makes from then on follows from it: identifiers, user tokens, provisional
    ///   codes, mails and attempts. What a browser holds, and what the partner's own server issues, is unguessable
    ///   with and without one.
    public func resetIFTTT(seed: UInt64? = nil) {
        standIn(IFTTTStandIn.self).store.reset(seed: seed)
    }

    /// A log of the IFTTT stand-in: its entries, oldest first, one JSON object each.
    ///
    /// At most 10,000 entries are kept; then the older half is forgotten.
    public func iftttLog(_ log: SandboxConnectLog) -> [String] {
        control.entries(log).map(\.text)
    }

    /// Revokes an IFTTT user token.
    ///
    /// - Parameter token: the token; nil for all current ones.
    /// - Returns: whether there is such a token.
    @discardableResult
    public func revokeUserToken(_ token: String? = nil) -> Bool {
        control.revokeUserToken(token)
    }

    /// Publishes or unpublishes a partner of IFTTT, and with it its connections.
    ///
    /// - Parameters:
    ///   - isPublished: whether its connections need no invite code.
    ///   - serviceID: the partner.
    /// - Returns: whether there is such a partner.
    @discardableResult
    public func setPublished(_ isPublished: Bool, serviceID: String) -> Bool {
        control.setPublished(isPublished, serviceID: serviceID)
    }

    /// Makes a code of the partner's authorization server for IFTTT. The partner's app has such a code for its
    /// signed-in user.
    ///
    /// It works once and for ten minutes.
    ///
    /// - Parameter partnerUser: the user's id or address at the partner.
    /// - Throws: ``SandboxError/unknownUser(name:known:)``.
    public func issueOAuthCode(for partnerUser: String) throws(SandboxError) -> String {
        guard let code = control.oauthCode(for: partnerUser) else {
            throw .unknownUser(name: partnerUser, known: ifttt.users.map(\.name))
        }
        return code
    }

    /// Sends IFTTT's webhooks to a server of yours.
    ///
    /// They are POSTed one after another, three times at most each, to the prefix and the path of the IFTTT Connect
    /// dossier, section 2.11.
    ///
    /// - Parameter prefix: `http://127.0.0.1:PORT` or `http://[::1]:PORT`, perhaps with a path; nil for the partner that
    ///   is part of the sandbox, to which they are handed without a network.
    /// - Returns: whether the prefix is such an address.
    @discardableResult
    public func setWebhookPrefix(_ prefix: String?) -> Bool {
        control.setWebhookPrefix(prefix)
    }

    /// Registers one more redirect URL with all partners of IFTTT.
    ///
    /// - Parameter url: absolute, without query and fragment; on `http://127.0.0.1` or `http://[::1]` without a port it
    ///   fits any port.
    /// - Returns: whether it is such a URL.
    @discardableResult
    public func registerRedirectURL(_ url: String) -> Bool {
        control.register(redirectURL: url)
    }

    private var control: Steering {
        Steering(store: standIn(IFTTTStandIn.self).store)
    }
}
#endif
