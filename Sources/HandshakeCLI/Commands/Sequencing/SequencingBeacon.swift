#if CommandLine
import ArgumentParser
import Handshake
import OAuth
import Sequencing

struct SequencingBeacon: BoundedCommand {
    static let configuration = CommandConfiguration(
        commandName: "beacon", abstract: "Ask genetic beacons whether a variant has been observed.",
        discussion: "No account is needed. The answer is printed as received.")

    @Argument(help: "The chromosome's number.")
    var chromosome: Int

    @Argument(help: "The position on the chromosome.")
    var position: Int64

    @Argument(help: "The allele, for example A.")
    var allele: String

    @Flag(help: "Ask the service's own beacon instead of other institutions'.")
    var own = false

    @Option(help: .timeout)
    var timeout = 60

    @OptionGroup var options: SequencingHostOptions

    func run() async throws {
        let answer = try await SequencingFailure.reported {
            let variant = try GeneticBeacons.Variant(chromosome: chromosome, position: position, allele: allele)
            return try await GeneticBeacons(at: try options.hosts()).ask(
                own ? .sequencing : .publicBeacons, for: variant)
        }
        if options.json {
            let exists: JSONText = answer.exists.map { .bool($0) } ?? .null
            Output.result(JSONText.object([("exists", exists), ("answer", .string(answer.text))]).text)
        } else {
            Output.result(quoted(answer.text, limit: 65_536))
        }
    }
}
#endif
