import ArgumentParser
import IFTTTConnect

struct IFTTTNotify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Tell IFTTT that there is news, so that it asks the partner at once.",
        discussion: "1 to 1000 users and trigger identities at a time. It is a hint: IFTTT decides when it asks.")

    @Option(help: ArgumentHelp("The partner's own identifier of a user who has news; repeatable.", valueName: "id"))
    var user: [String] = []

    @Option(
        name: .customLong("trigger-identity"),
        help: ArgumentHelp("A trigger identity, as IFTTT names it to the partner; repeatable.", valueName: "id"))
    var triggerIdentity: [String] = []

    @OptionGroup var key: IFTTTKeyOptions
    @OptionGroup var host: IFTTTHostOptions

    func run() async throws {
        let targets: [ConnectService.RealtimeTarget] =
            user.map { .user($0) } + triggerIdentity.map { .trigger(identity: $0) }
        guard !targets.isEmpty else { throw CommandError.usage("who has news? Name a --user or a --trigger-identity") }
        try await IFTTTFailure.reported { try await key.service(at: try host.hosts()).notify(targets) }
        if host.common.json {
            Output.result(JSONText.object([("notified", .integer(Int64(targets.count)))]).text)
        } else {
            Output.note("IFTTT knows of \(targets.count).")
        }
    }
}
