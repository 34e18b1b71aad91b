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

let account: Account
if let known = try await handshake.account() {
    account = known
} else {
    account = try await handshake.signIn(through: .systemBrowser)
}

let profile: Profile = try await account.send(.get, "profiles/me")
print("Signed in as \(profile.name)")
