#if Server && Sandbox
import ExampleServer
import Foundation
import Handshake
import OAuth
import Sandbox
import Sequencing

/// Weather advice by your genes: sign in, pick a file, run two app chains in one request, read the advice (dossier 5.8).
///
/// `swift run WeatherMyWay --serve` starts the web app; without it, the command prints advice. Both run against a sandbox in the
/// same process; no request leaves the machine. An app of your own differs in ``App/handshake(at:of:_:)``: its own client
/// identifier, ``Service/sequencing`` instead of the sandbox's address, and a vault that lasts.
///
/// `--help` lists the options.
@main
struct WeatherMyWay {
    static func main() async throws {
        let (table, places) = (try AdviceTable.builtIn(), try ForecastTable.builtIn())
        let options: Options
        do {
            options = try Options(Array(CommandLine.arguments.dropFirst()), table: table, places: places)
        } catch {
            refuse("\(error.description)\n\(Options.help(table, places))")
        }
        guard options.task != .help else {
            FileHandle.standardOutput.write(Data(Options.help(table, places).utf8))
            return
        }
        do {
            try await run(options.task)
        } catch let problem as Options.Problem {
            refuse("\(problem.description)\n")
        } catch {
            let port: Int? = if case .serve(let number, _) = options.task { number } else { nil }
            endAfter(error, in: "WeatherMyWay", port: port)
        }
    }

    /// Ends the program for a command line that cannot be used.
    private static func refuse(_ text: String) -> Never {
        FileHandle.standardError.write(Data("WeatherMyWay: \(text)".utf8))
        exit(64)
    }

    /// Runs beside a sandbox, which stops at the end.
    private static func run(_ task: Options.Task) async throws {
        let sandbox = try await Sandbox.start()
        do {
            try await run(task, on: sandbox)
        } catch {
            await sandbox.stop()
            throw error
        }
        await sandbox.stop()
    }

    private static func run(_ task: Options.Task, on sandbox: Sandbox) async throws {
        switch task {
        case .help: break
        case .serve(let port, let printsJSON): try await WebServer.run(on: sandbox, port: port, printsJSON: printsJSON)
        case .advice(let condition, let alert):
            let genome = Sequencing(try await signIn(sandbox))
            for file in try await genome.files(.sample) {
                let advice = try await advice(for: file, from: genome, condition: condition, alert: alert)
                print("\(file.displayName): \(advice)")
            }
            print(WeatherReport.disclaimer)
        case .forecast(let place, let file):
            for line in try await forecast(place, file, from: Sequencing(try await signIn(sandbox))) { print(line) }
        }
    }

    /// Signs in with the sandbox's public client.
    private static func signIn(_ sandbox: Sandbox) async throws -> Account {
        let origin = try EndpointURL(sandbox.sequencing.origin, security: .allowingInsecureLoopback)
        guard let client = sandbox.sequencing.clients.first(where: { $0.kind == .public })
        else { throw HandshakeError.configuration(member: "client", problem: "the sandbox has no public client") }
        let handshake = try Handshake(Client(service: .sequencing.at(origin), id: client.id), vault: MemoryVault())
        return try await handshake.signIn(through: SandboxBrowser(sandbox: sandbox))
    }

    /// Runs both chains on a file, and looks the advice up. A severe-weather alert is shown whatever the chains answer.
    static func advice(
        for file: GeneticFile, from genome: Sequencing, condition: String, alert: String? = nil
    ) async throws -> String {
        let genes = try await Genes.ask(genome, about: file.id)
        return try AdviceTable.builtIn().advice(for: genes, condition: condition, alert: alert).text
    }

    /// The lines of the forecast for a file.
    ///
    /// - Throws: `Options.Problem` with the files that there are, if this is none of them.
    static func forecast(_ name: String, _ file: String, from genome: Sequencing) async throws -> [String] {
        guard let id = FileID(file), let file = try await genome.file(id) else {
            let files = try await genome.files().map { "\n\($0.id)  \($0.displayName)" }
            throw Options.Problem(description: "there is no file \"\(file)\". Choose one of:\(files.joined())")
        }
        guard let place = try ForecastTable.builtIn().place(name) else { return [] }
        let genes = try await Genes.ask(genome, about: file.id)
        let report = WeatherReport(place, for: genes, by: try AdviceTable.builtIn())
        var head = ["\(place.name), for \(file.displayName)"] + genes.words.map { "\($0.title): \($0.answer)" }
        if let error = genes.error { head.append(Advice.noAnswer(error).text) }
        let days = report.days.map { entry in
            let name = entry.offset == 0 ? "Today" : "In \(entry.offset) day\(entry.offset == 1 ? "" : "s")"
            return "\(name), \(entry.day.condition), \(entry.day.high)/\(entry.day.low) °C"
                + (entry.sentence.map { ": \($0)" } ?? "")
        }
        return head + days + [WeatherReport.disclaimer]
    }
}

/// Approves the sign-in at the sandbox without a browser.
private struct SandboxBrowser: Browser {
    let sandbox: Sandbox

    func show(_ page: SignInPage) async throws -> String? {
        try await sandbox.approve(page.url)
    }
}
#endif
