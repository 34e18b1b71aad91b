import Foundation
import Handshake
import OAuth

struct Profile: Decodable {
    let name: String
}

// `swift run handshake sandbox --port 8080` serves the Recurse Center's pages at the second of its six ports.
func connect(to address: String) throws -> Handshake {
    let sandbox = try EndpointURL(address, security: .allowingInsecureLoopback)
    let client = Client(service: Service.recurseCenter.at(sandbox), id: "recurse-public")
    // The key lies apart from what it protects, so that no copy of one folder has both.
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    let vault = try FileVault(directory: "first-sign-in", keyFile: "\(home)/.config/first-sign-in/key")
    return try Handshake(client, vault: vault)
}

func signIn(to handshake: Handshake) async throws -> Account {
    let browser = PrintingBrowser {
        say("Open this address in a browser: \($0.url)")
    } readRedirect: { _ in
        nil
    }
    return try await handshake.signIn(through: browser)
}

func greet(_ account: Account) async throws {
    let profile: Profile = try await account.send(.get, "profiles/me")
    say("Signed in as \(profile.name)")
}

/// Writes a line immediately. `print` keeps lines back when its output goes to another program.
func say(_ line: String, to output: FileHandle = .standardOutput) {
    output.write(Data((line + "\n").utf8))
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.count > 1 || arguments.first?.hasPrefix("-") == true {
    let isHelp = ["-h", "--help"].contains(arguments.first)
    say("Usage: FirstSignIn [ADDRESS]", to: isHelp ? .standardOutput : .standardError)
    exit(isHelp ? 0 : 64)
}

do {
    let handshake = try connect(to: arguments.first ?? "http://127.0.0.1:8081")
    do {
        if let account = try await handshake.account() {
            try await greet(account)
        } else {
            try await greet(signIn(to: handshake))
        }
    } catch HandshakeError.signInRequired {
        // The session has ended: the sandbox forgets everything when it stops.
        try await greet(signIn(to: handshake))
    }
} catch {
    say("\(error)", to: .standardError)
    exit(1)
}
