#if CommandLine
import ArgumentParser
import Foundation
import Handshake
import Nearby
import OAuth

struct CircleJoin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join", abstract: "Join a circle: prove in the browser that you are a member of its community.",
        discussion: """
            A circle takes one identity of each member. When the device that has yours is lost, or its data is, --replace publishes a \
            new one. \(CircleReplacement.effect)
            """)

    @Argument(help: "The circle's address.")
    var url: String

    @Flag(help: "Replace the identity that you have in the circle.")
    var replace = false

    @Option(help: "Open the system's browser at the page (the default), or print its URL.")
    var browser = LoginOptions.BrowserChoice.system

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let vault = try await NearbyVault.open(common)
        if replace { try await CircleReplacement.confirm() }
        let joining = try await NearbyFailure.reported {
            try await CircleJoining.begin(
                at: url, in: NearbyVault.environment(vault), replacingIdentity: replace)
        }
        Output.note("Check that the page shows this code: \(joining.code)")
        switch browser {
        case .print: Output.result(joining.page)
        case .system:
            let address = try EndpointURL(joining.page, security: .allowingInsecureLoopback)
            do {
                try SystemBrowser(environment: ProcessInfo.processInfo.environment).open(address)
                Output.note("If no page opens, open this URL:\n\(joining.page)")
            } catch {
                Output.error("No browser could be opened. Open this URL:\n\(joining.page)")
            }
        }
        let summary = try await NearbyFailure.reported { try await joining.finish().summary() }
        if common.json {
            Output.result(CircleText.json(summary).text)
        } else {
            let name = quoted(summary.name, limit: 80)
            let others = summary.members.map { $0 == 1 ? ", with 1 other" : ", with \($0) others" } ?? ""
            Output.note(
                "You are in \(quoted(summary.circle, limit: 80)) as \(name)\(others). "
                    + "Let them notice you with: handshake nearby watch --advertise rolling")
            if let trouble = summary.trouble { Output.note(quoted(trouble, limit: 600)) }
        }
    }
}

/// What `join --replace` does, and whether the user wants it.
enum CircleReplacement {
    static let effect =
        "Your other devices are signed out of the circle, and members who knew you see that you have a new identity and are told to ask you in person."

    /// Says what happens, and asks on a terminal; elsewhere the option is the consent.
    static func confirm() async throws {
        Output.note("This replaces your identity. \(effect)")
        guard StandardInput.isTerminal else { return }
        let answer = try await Prompt.line("Replace it? Type yes or no:", wanted: "an answer")
        guard ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased()) else {
            throw CommandError(status: .abandoned, code: "declined", message: "Nothing was replaced.")
        }
    }
}
#endif
