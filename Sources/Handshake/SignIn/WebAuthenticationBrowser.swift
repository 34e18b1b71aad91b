#if canImport(AuthenticationServices) && !os(tvOS) && !os(watchOS)
public import AuthenticationServices
import Foundation
import OAuth

/// The in-app browser session of Apple's platforms. It is the user's own browser in a sheet, which the app cannot look
/// into (RFC 8252, appendix B.1 and B.2).
///
/// It catches redirects to a private scheme and to a claimed `https:` address. For a loopback redirect use the
/// system's browser. The sheet closes when the task that shows it is cancelled.
public struct WebAuthenticationBrowser: Browser {
    private let anchor: @MainActor @Sendable () -> ASPresentationAnchor
    private let isEphemeral: Bool

    /// - Parameters:
    ///   - isEphemeral: whether the session shares nothing with the user's browser, so that every sign-in asks
    ///     again.
    ///   - anchor: the window to show the session above.
    public init(isEphemeral: Bool = false, anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
        self.isEphemeral = isEphemeral
        self.anchor = anchor
    }

    public func show(_ page: SignInPage) async throws -> String? {
        try await Presentation(anchor: anchor).run(page, isEphemeral: isEphemeral)
    }
}

/// One session on the screen.
@MainActor
private final class Presentation: NSObject, ASWebAuthenticationPresentationContextProviding {
    private let anchor: @MainActor @Sendable () -> ASPresentationAnchor
    private var session: ASWebAuthenticationSession?
    /// Waits for the end; nil before there is a session and after it has ended.
    private var waiting: CheckedContinuation<String, any Error>?

    init(anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
        self.anchor = anchor
    }

    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
        anchor()
    }

    func run(_ page: SignInPage, isEphemeral: Bool) async throws -> String {
        guard let url = URL(string: page.url), let callback = Self.callback(for: page) else {
            throw HandshakeError.configuration(
                member: "redirect",
                problem:
                    "the system's browser session returns to a private scheme or https, not to \(page.redirectURI); give the client such a redirect URI"
            )
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting = continuation
                // Sendable, for the system calls it on a queue of its own, where the main actor's closures trap.
                let session = ASWebAuthenticationSession(url: url, callback: callback) {
                    @Sendable redirect, error in
                    let outcome = Self.outcome(redirect, error)
                    Task { @MainActor in self.end(outcome) }
                }
                session.presentationContextProvider = self
                session.prefersEphemeralWebBrowserSession = isEphemeral
                self.session = session
                // A session that does not start never calls back.
                if !session.start() { end(.failure(Self.notShown)) }
            }
        } onCancel: {
            Task { @MainActor in
                self.session?.cancel()
                // Whether a session that is cancelled from here calls back is not documented.
                self.end(.failure(CancellationError()))
            }
        }
    }

    /// Ends the wait; only the first end counts.
    private func end(_ outcome: Result<String, any Error>) {
        let continuation = waiting
        (waiting, session) = (nil, nil)
        continuation?.resume(with: outcome)
    }

    private static func callback(for page: SignInPage) -> ASWebAuthenticationSession.Callback? {
        let uri = page.redirectURI
        switch uri.kind {
        case .loopback, .outOfBand: return nil
        case .privateScheme:
            return uri.string.split(separator: ":").first.map { .customScheme(String($0)) }
        case .claimed:
            guard let url = URL(string: uri.string), let host = url.host() else { return nil }
            return .https(host: host, path: url.path())
        }
    }

    private nonisolated static var notShown: HandshakeError {
        .configuration(
            member: "browser",
            problem: "The browser session could not be shown. Call signIn while the app is in the foreground.")
    }

    private nonisolated static func outcome(_ redirect: URL?, _ error: (any Error)?) -> Result<String, any Error> {
        if let redirect { return .success(redirect.absoluteString) }
        if let error = error as? ASWebAuthenticationSessionError, error.code == .canceledLogin {
            return .failure(HandshakeError.signInAbandoned(.closed))
        }
        return .failure(notShown)
    }
}
#endif
