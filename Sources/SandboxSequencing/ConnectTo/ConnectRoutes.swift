#if Sandbox
import Crypto
import Mustache
import SandboxCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The connect page (Sequencing dossier, sections 3.3 and 9.2).
///
/// The secrets that it knows are that of the legacy client and those of the dossier's two test vectors. An address
/// without an account gets one, without the welcome mail; for a user of the sandbox it adds the genetic files to the
/// list, as an import does.
struct ConnectRoutes: Sendable {
    static let secrets =
        [Fixtures.legacyClient.secret].compactMap { $0 } + [
            "sandbox-secret-0123456789-abcdefghijklmnop", "short-secret",
        ]

    let pages: Pages
    let library: FileLibrary
    let accounts: AccountRoutes

    var routes: [Route] {
        [
            Route(
                "GET", path: "/connect", note: "the legacy link that pushes files, c and json encrypted",
                answer: connect)
        ]
    }

    private func connect(_ request: IncomingRequest) -> Answer {
        do throws(ConnectLink.Refusal) {
            let link = try ConnectLink(request.query, secrets: Self.secrets)
            let isNew = accounts.isNew(link.email)
            if let user = pages.dialect.users.first(where: { $0.name == link.email.lowercased() }) {
                for file in link.files where file.type == "0" {
                    library.receive(file.name, type: "VCF", for: user.subject)
                }
            }
            return pages.connected(link, isNew: isNew)
        } catch {
            return pages.page(
                "Connect", Template.notConnected.render(["detail": error.rawValue]), status: 400)
        }
    }
}

extension Pages {
    private struct Connected {
        let email: String
        let isNew: Bool
        let files: [ConnectLink.File]
        let redirect: String?
        let script: String
    }

    private static let closing = "window.close()"
    private static let closingHash =
        "'sha256-" + Data(SHA256.hash(data: Data(closing.utf8))).base64EncodedString() + "'"

    /// The page that reports a decoded link and then closes itself, which the old clients take for success.
    func connected(_ link: ConnectLink, isNew: Bool) -> Answer {
        let view = Connected(
            email: link.email, isNew: isNew, files: link.files, redirect: link.redirectURI, script: Self.closing)
        return page("Connected", Template.connected.render(view), scriptSources: [Self.closingHash])
    }
}

extension Template {
    fileprivate static let connected = Template(
        """
        <h1>Files for {{email}}</h1>
        <p>{{#isNew}}A new account was made.{{/isNew}}{{^isNew}}The account exists.{{/isNew}} \
        The sandbox pretends to fetch these files:</p>
        <ul class="rows">{{#files}}<li><code>{{name}}</code><p>type {{type}}, from {{url}}, \
        hash {{hashType}} {{hashValue}}, size {{size}}</p></li>{{/files}}</ul>
        {{#redirect}}<p class="note">Asked to go on to <code>{{redirect}}</code></p>{{/redirect}}
        <p class="quiet">You can close this page.</p>
        <script>{{{script}}}</script>
        """)

    fileprivate static let notConnected = Template(
        """
        <h1>These files were not accepted</h1>
        <div class="problem" role="alert"><p>{{detail}}</p></div>
        """)
}
#endif
