import Foundation
import Handshake
import HandshakeServer
import Hummingbird
import OAuth

/// A server whose users connect their accounts at the Recurse Center. It prints its address when it listens.
@main
struct Server {
    static func main() async throws {
        let address = try PublicAddress("http://127.0.0.1:8080/connect")
        let redirect = try RedirectURI("\(address)/recurse-center/callback")
        let client = Client.confidential(
            service: .recurseCenter, id: "an-id", secret: Secret("a-secret"), redirect: .uri(redirect))
        let handshake = try Handshake(client, vault: MemoryVault())

        let router = Router()
        let routes = try SignInRoutes<BasicRequestContext>(handshake, at: address) { request, _ in
            request.cookies["session"]?.value
        }
        routes.add(to: router.group("connect"))

        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                FileHandle.standardOutput.write(Data("http://127.0.0.1:\(port)\n".utf8))
            })
        try await application.runService()
    }
}
