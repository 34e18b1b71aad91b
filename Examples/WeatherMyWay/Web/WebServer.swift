#if Server && Sandbox
import Foundation
import Hummingbird
import Logging
import NIOCore
import Sandbox

/// The web app's process: listens, prints its address, and ends with Ctrl-C.
enum WebServer {
    static func run(on sandbox: Sandbox, port: Int, printsJSON: Bool) async throws {
        let entrance = Entrance()
        var log = Logger(label: "WeatherMyWay")
        log.logLevel = .error
        let application = Application(
            responder: entrance,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                let origin = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
                do {
                    entrance.open(try App(at: origin, on: sandbox).router.buildResponder())
                    announce(origin, sandbox, printsJSON)
                } catch {
                    print("WeatherMyWay cannot open: \(error)")
                }
            }, logger: log)
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
