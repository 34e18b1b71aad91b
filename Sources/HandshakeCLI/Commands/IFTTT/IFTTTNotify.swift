#if CommandLine
import ArgumentParser
import IFTTTConnect

struct IFTTTNotify: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Tell IFTTT about new data, so that it polls the partner immediately.",
        discussion: "1 to 1000 users and trigger identities in one call. It is a hint: IFTTT decides when to poll.")

    @Option(help: ArgumentHelp("The partner's identifier of a user with new data; repeatable.", valueName: "id"))
    var user: [String] = []

    @Option(
        name: .customLong("trigger-identity"),
        help: ArgumentHelp("A trigger identity, as IFTTT sends it to the partner; repeatable.", valueName: "id"))
    var triggerIdentity: [String] = []

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var key: IFTTTKeyOptions
    @OptionGroup var host: IFTTTHostOptions

    func run() async throws {
        let targets: [ConnectService.RealtimeTarget] =
            user.map { .user($0) } + triggerIdentity.map { .trigger(identity: $0) }
        guard !targets.isEmpty else { throw CommandError.usage("Give at least one --user or --trigger-identity.") }
        try await IFTTTFailure.reported { try await key.service(at: try host.hosts()).notify(targets) }
        if host.common.json {
            Output.result(JSONText.object([("notified", .integer(Int64(targets.count)))]).text)
        } else {
            Output.note(
                "IFTTT was notified about \(targets.count == 1 ? "1 user or trigger" : "\(targets.count) users and triggers")."
            )
        }
    }
}
#endif
