#if canImport(AuthenticationServices)
    public import AuthenticationServices
    import Foundation
    import OAuth

    /// The in-app browser session of Apple's platforms: the user's own browser in a sheet, which the app cannot look
    /// into (RFC 8252, appendix B.1 and B.2).
    ///
    /// It catches redirects to a private scheme and to a claimed `https:` address. For a loopback redirect use the
    /// system's browser.
    public struct WebAuthenticationBrowser: Browser {
        private let anchor: @MainActor @Sendable () -> ASPresentationAnchor
        private let isEphemeral: Bool

        /// - Parameters:
        ///   - isEphemeral: whether the session shares nothing with the user's browser, so that every sign-in asks
        ///     anew.
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
                    problem: "this browser catches private schemes and https, not \(page.redirectURI)")
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let session = ASWebAuthenticationSession(url: url, callback: callback) { redirect, error in
                        continuation.resume(with: Self.outcome(redirect, error))
                    }
                    session.presentationContextProvider = self
                    session.prefersEphemeralWebBrowserSession = isEphemeral
                    self.session = session
                    if !session.start() {
                        // A session that does not start never calls back.
                        continuation.resume(throwing: HandshakeError.signInAbandoned(.closed))
                    }
                }
            } onCancel: {
                Task { @MainActor in self.session?.cancel() }
            }
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

        private nonisolated static func outcome(_ redirect: URL?, _ error: (any Error)?) -> Result<String, any Error> {
            if let redirect { return .success(redirect.absoluteString) }
            if let error = error as? ASWebAuthenticationSessionError, error.code == .canceledLogin {
                return .failure(HandshakeError.signInAbandoned(.closed))
            }
            return .failure(
                HandshakeError.configuration(member: "browser", problem: "the browser session could not be shown"))
        }
    }
#endif
