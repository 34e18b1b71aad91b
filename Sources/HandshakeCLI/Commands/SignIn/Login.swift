import ArgumentParser
import Foundation
import Handshake
import OAuth

struct Login: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign in to a service.",
        discussion: """
            SERVICE is sequencing, recurse-center, or a name of your own with --issuer, or with --authorize-url and --token-url. \
            The account is kept under that name; --account gives it another one.
            """)

    @Argument(help: "The service, or a name of your own.")
    var service: String

    @OptionGroup var options: LoginOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        let settings = try Settings.load()
        let vault = try await common.openVault(settings)
        let plan = try await LoginPlan(service: service, options: options, settings: settings)
        let handshake = try Handshake(plan.client, vault: vault)
        let registrations = Registrations(in: vault)
        try await KnownAccount.naming(plan.account) {
            // Under one name there is one account: another one's tokens would live on where nobody could reach them.
            if let before = try await registrations.client(named: plan.account),
                AccountID(before, name: plan.account) != AccountID(plan.client, name: plan.account),
                try await Handshake(before, vault: vault).account(plan.account) != nil
            {
                throw CommandError.usage(
                    "the account “\(plan.account)” is another client's at \(before.service.authorizationServer.issuer); "
                        + "end it with handshake logout \(plan.account), or name this one with --account")
            }
            // Nothing can be stored over a damaged record, which is better known before somebody signs in.
            _ = try await handshake.account(plan.account)
        }
        let account =
            if let tokenFile = plan.tokenFile {
                try await PersonalToken(from: tokenFile).signIn(plan.client, as: plan.account, in: vault)
            } else { try await signIn(handshake, plan) }
        try await registrations.remember(plan.client, as: plan.account)
        let subject = await subject(of: account)
        let status = account.status
        if common.json {
            Output.result(
                JSONText.object([
                    ("account", .string(plan.account)), ("service", .string(plan.client.service.name)),
                    ("scope", .string(status.scopes.joined(separator: " "))), ("token_type", .string("Bearer")),
                    ("expires_at", .seconds(status.expiresAt)), ("subject", .optional(subject)),
                    ("refreshable", .bool(status.isRefreshable)),
                ]).text)
        } else {
            let who = subject.map { " as \(quoted($0, limit: 100))" } ?? ""
            Output.note("Signed in to \(plan.client.service.displayName)\(who). The account is called \(plan.account).")
        }
    }

    private func signIn(_ handshake: Handshake, _ plan: LoginPlan) async throws -> Account {
        switch plan.grant {
        case .clientCredentials: return try await handshake.signInAsClient(as: plan.account)
        case .authorizationCode: break
        }
        let printed = PrintedAddress(
            print: { page in
                Output.note(page.prompt())
                Output.result(page.url)
            },
            readRedirect: { page in
                try await RedirectQuestion.ask(page)
            })
        switch plan.browser {
        case .print: return try await handshake.signIn(as: plan.account, through: printed, timeout: plan.timeout)
        case .system:
            return try await handshake.signIn(as: plan.account, through: AnnouncedBrowser(), timeout: plan.timeout)
        }
    }

    /// Who signed in: from the ID token, or from the API when it can be asked.
    private func subject(of account: Account) async -> String? {
        if let claims = account.status.identity { return claims.subject }
        return try? await account.identity().subject
    }
}

/// The system's browser, with the prompt and the address shown beside it, so that a browser that does not open is no
/// dead end.
struct AnnouncedBrowser: Browser {
    func show(_ page: SignInPage) async throws -> String? {
        Output.note(page.prompt())
        guard page.redirectURI.kind == .loopback || page.redirectURI.kind == .outOfBand else {
            throw HandshakeError.configuration(
                member: "redirect",
                problem: "with a redirect that is not loopback, use --browser print and paste the redirect")
        }
        do {
            _ = try await SystemBrowser().show(page)
            Output.note("If no page opens, open this address:\n\(page.url)")
        } catch {
            Output.note("No browser could be opened. Open this address:\n\(page.url)")
        }
        guard page.redirectURI.kind == .outOfBand else { return nil }
        guard let code = try await RedirectQuestion.ask(page) else { throw HandshakeError.signInAbandoned(.closed) }
        return try page.redirect(carrying: Secret(code))
    }
}

/// Asks the user for what the browser shows in the end.
enum RedirectQuestion {
    /// The line that the user gave; nil when there is none.
    static func ask(_ page: SignInPage) async throws -> String? {
        Output.note(
            page.redirectURI.kind == .outOfBand
                ? "Paste the code that the page shows here:"
                : "Paste the address that begins with \(page.redirectURI) here:")
        return try await StandardInput.line()?.trimmingCharacters(in: .whitespaces)
    }
}
