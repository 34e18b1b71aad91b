import AsyncSupport
import Crypto
public import OAuth

/// The server's page at which a user's session ends there. Source: OpenID Connect RP-Initiated Logout, section 2.
public struct SignOutPage: Sendable {
    /// What the page is asked for with. `EndSessionRequest.Page.form` is for a browser that can post.
    public let request: EndSessionRequest
    /// The service's name for people.
    public let service: String

    /// The address to open. An ID token may stand in it: show it to the user alone.
    public var url: String { request.url }

    /// The host of the page, which the browser's address bar must show.
    public var host: String {
        request.server.endSessionEndpoint?.origin.authority ?? request.server.issuer.url.origin.authority
    }

    /// One sentence for the user, in the given language. It says at which service the session ends, and on which host.
    public func prompt(in language: Language = .user) -> String {
        Words.signOutPrompt.text(in: language, service, host)
    }
}

extension SignOutPage: CustomStringConvertible, CustomReflectable {
    /// The service and the host, without the address.
    public var description: String { "sign-out page of \(service) at \(host)" }

    public var customMirror: Mirror {
        Mirror(self, children: ["service": service, "host": host], displayStyle: .struct)
    }
}

extension Account {
    /// Signs out, then ends the user's session at the server too.
    ///
    /// The session at the server is in the user's browser, so a page has to be shown. The account is forgotten first,
    /// whatever becomes of the page. ``SignOutReport/serverSession`` says what is known of it.
    ///
    /// - Parameters:
    ///   - redirect: where the server sends the browser afterwards, as it is registered there for this
    ///     (`post_logout_redirect_uris`). Nil leaves the browser at the server.
    ///   - timeout: how long to wait for the browser to come back.
    ///   - show: shows the page, such as ``SystemBrowser/show(signOut:)``. It returns the address at which the
    ///     browser came back when it catches that itself; nil otherwise.
    /// - Throws: what ``signOut(revoking:)`` throws. What goes wrong afterwards is in the report.
    public func signOut(
        returningTo redirect: Client.Redirect? = nil, timeout: Duration = .seconds(120),
        endingSessionAt show: @escaping @Sendable (SignOutPage) async throws -> String?
    ) async throws -> SignOutReport {
        let session = try await serverSession()
        var report = try await signOut()
        guard let session else {
            report.serverSession = .unsupported
            return report
        }
        do {
            report.serverSession = try await end(session, returningTo: redirect, timeout: timeout, show)
        } catch let error as HandshakeError {
            report.serverSession = .notShown(error)
        } catch let error as CancellationError {
            throw error
        } catch {
            // The account is signed out: the caller learns that, whatever the page's own error is.
            report.serverSession = .notShown(
                .configuration(member: "browser", problem: "the page could not be shown"))
        }
        return report
    }

    /// Signs out, and prepares the server's page for a browser that is elsewhere.
    ///
    /// For web apps: redirect the user's browser to the page, and give the address of its return to
    /// ``Handshake/Handshake/finishSignOut(returnURL:)``.
    ///
    /// - Parameters:
    ///   - uri: where the server sends the browser afterwards, as it is registered there for this; nil leaves it there.
    ///   - timeout: how long a return is recognized.
    /// - Returns: what was done, and the page; nil for a server without one.
    /// - Throws: what ``signOut(revoking:)`` throws. The account may be forgotten then.
    public func beginSignOut(
        returningTo uri: RedirectURI? = nil, timeout: Duration = .seconds(600)
    ) async throws -> (report: SignOutReport, page: SignOutPage?) {
        let session = try await serverSession()
        var report = try await signOut()
        guard let session else {
            report.serverSession = .unsupported
            return (report, nil)
        }
        let page = try page(of: session, returningTo: uri)
        report.serverSession = .shown
        if let uri, let state = page.request.state {
            let pending = StoredSignOut(
                service: client.service.name, returnURI: uri.string,
                expiresAt: environment.time.now() + max(0, timeout / .seconds(1)))
            do {
                let bytes = try StoredForm.encode(pending)
                try await environment.vault.update(StoredSignOut.key(state)) { try await $0.replace(with: bytes) }
            } catch let error as VaultError {
                throw HandshakeError.vault(error)
            }
        }
        return (report, page)
    }

    /// A session at a server that has a page for its end.
    private struct Session {
        let server: AuthorizationServerMetadata
        let idToken: Secret?
    }

    /// The session that is to end; nil when the server has no page for that.
    private func serverSession() async throws -> Session? {
        let record = record
        let server = try await environment.server(of: client, known: record.server, isEnding: true)
        guard server.endSessionEndpoint != nil else { return nil }
        return Session(server: server, idToken: record.grant.idToken)
    }

    private func page(of session: Session, returningTo uri: RedirectURI?) throws(HandshakeError) -> SignOutPage {
        do {
            return SignOutPage(
                request: try EndSessionRequest(
                    at: session.server, clientID: client.id, idToken: session.idToken, returnURI: uri,
                    random: environment.random),
                service: client.service.displayName)
        } catch {
            throw .exchange(error)
        }
    }

    private func end(
        _ session: Session, returningTo redirect: Client.Redirect?, timeout: Duration,
        _ show: @escaping @Sendable (SignOutPage) async throws -> String?
    ) async throws -> SignOutReport.ServerSession {
        var listener: LoopbackListener?
        var uri: RedirectURI?
        switch redirect {
        case nil: break
        case .uri(let registered)?: uri = registered
        case .loopback(let port, let path)?:
            listener = try LoopbackListener(port: port, path: path, log: environment.log)
            uri = listener?.redirectURI
        }
        let page = try page(of: session, returningTo: uri)
        guard uri != nil else {
            _ = try await show(page)
            return .shown
        }
        let isConfirmed = try await within(timeout, on: environment.time.clock) { [listener] in
            try await Self.isConfirmed(page, at: listener, show)
        }
        return isConfirmed == true ? .ended : .unconfirmed
    }

    /// Whether the browser came back as it should: to the listener, or as the one who shows the page says.
    private static func isConfirmed(
        _ page: SignOutPage, at listener: LoopbackListener?,
        _ show: @escaping @Sendable (SignOutPage) async throws -> String?
    ) async throws -> Bool {
        guard let listener else {
            return try await show(page).map { page.request.isConfirmed(by: $0) } ?? false
        }
        return try await withThrowingTaskGroup(of: Bool?.self) { group in
            group.addTask { try await show(page).map { page.request.isConfirmed(by: $0) } }
            group.addTask {
                try await listener.redirect { address in
                    let isConfirmed = page.request.isConfirmed(by: address)
                    let answer = ResultPage.signedOut(
                        confirmedBy: isConfirmed ? page.service : nil, language: .user)
                    return .accepted(isConfirmed, page: answer.html)
                }
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }
}

extension Handshake {
    /// Whether the server has ended a session.
    ///
    /// The user is signed out here in any case. A state counts once, at the registered address, in any process with the
    /// same vault. Show a page that says so: of the server it says something only when this is true.
    ///
    /// - Parameter returnURL: the address as it arrived, whole.
    /// - Throws: ``HandshakeError/vault(_:)``, `CancellationError`.
    public func finishSignOut(returnURL: String) async throws -> Bool {
        let returned = EndSessionReturn(url: returnURL)
        guard let state = returned.state else { return false }
        let now = environment.time.now()
        do {
            return try await environment.vault.update(StoredSignOut.key(state)) { locked in
                guard let bytes = await locked.contents else { return false }
                try await locked.remove()
                let stored: StoredSignOut = try StoredForm.decode(bytes, what: "a sign-out")
                guard now < stored.expiresAt, let uri = try? RedirectURI(stored.returnURI) else { return false }
                return returned.confirms(state, at: uri)
            }
        } catch let error as VaultError {
            throw HandshakeError.vault(error)
        }
    }
}

/// A sign-out whose browser is to come back, as bytes, for the inside of a sealed vault record.
private struct StoredSignOut: Codable {
    var version = 1
    let service: String
    let returnURI: String
    let expiresAt: Double

    /// The record that holds it. The state itself is not part of the name.
    static func key(_ state: Secret) -> VaultKey {
        VaultKey(.signOut, [Base64URL.encode(SHA256.hash(data: Array(state.reveal().utf8)))])
    }
}

#if os(Linux) || os(macOS)
extension SystemBrowser {
    /// Opens the page at which a session ends.
    ///
    /// - Returns: nil: the browser comes back to a listener, or not at all.
    /// - Throws: ``HandshakeError/configuration(member:problem:)`` when there is no opener, or it fails within 5 s.
    public func show(signOut page: SignOutPage) async throws -> String? {
        // Without the ID token: other users of the machine see the arguments of a program (`oauth-security.md` L4).
        try await show(page.request.shortAddress)
        return nil
    }
}
#endif
