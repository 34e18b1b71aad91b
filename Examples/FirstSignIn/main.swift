import Handshake
import OAuth

struct Profile: Decodable {
    let name: String
}

// `swift run handshake sandbox --port 8080` serves the Recurse Center's pages at the second of its four ports.
let address = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8081"
let sandbox = try EndpointURL(address, security: .allowingInsecureLoopback)
let client = Client(service: Service.recurseCenter.at(sandbox), id: "recurse-public")
let vault = try FileVault(directory: "first-sign-in/vault", keyFile: "first-sign-in/key")
let handshake = try Handshake(client, vault: vault)

func signIn() async throws -> Account {
    let browser = PrintingBrowser {
        print("Open this address in a browser: \($0.url)")
    } readRedirect: { _ in
        nil
    }
    return try await handshake.signIn(through: browser)
}

func greet(_ account: Account) async throws {
    let profile: Profile = try await account.send(.get, "profiles/me")
    print("Signed in as \(profile.name)")
}

do {
    do {
        if let account = try await handshake.account() {
            try await greet(account)
        } else {
            try await greet(signIn())
        }
    } catch HandshakeError.signInRequired {
        // The session has ended: the sandbox forgets everything when it stops.
        try await greet(signIn())
    }
} catch {
    print(error)
}
