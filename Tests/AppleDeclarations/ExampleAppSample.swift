import Handshake
import OAuth

extension SignInView {
    static func openAtSandbox() async throws -> Handshake {
        let sandbox = try EndpointURL("http://127.0.0.1:8081", security: .allowingInsecureLoopback)
        let redirect = try RedirectURI("com.example.app:/callback")
        let client = Client(service: .recurseCenter.at(sandbox), id: "recurse-public", redirect: .uri(redirect))
        return try Handshake(client, vault: await KeychainVault.open())
    }
}
