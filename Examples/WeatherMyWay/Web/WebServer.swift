#if Server && Sandbox
import ExampleServer
import Foundation
import Hummingbird
import Sandbox

/// The web app's process: listens, prints its address, and ends with Ctrl-C.
enum WebServer {
    static func run(on sandbox: Sandbox, port: Int, printsJSON: Bool) async throws {
        let application = Entrance().application(named: "WeatherMyWay", port: port) { origin in
            let app = try App(at: origin, on: sandbox)
            announce(origin, sandbox, printsJSON)
            return app.router
        }
        try await application.runService()
    }

    private static func announce(_ origin: String, _ sandbox: Sandbox, _ printsJSON: Bool) {
        let user = sandbox.sequencing.users.first
        let text =
            printsJSON
            ? #"{"origin":"\#(origin)","sandbox":"\#(sandbox.sequencing.origin)"}"#
            : """
            WeatherMyWay is open at \(origin)/
            Sign in at the sandbox as \(user?.name ?? "") with the password \(user?.password ?? "").
            Ctrl-C closes it.
            """
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
#endif
