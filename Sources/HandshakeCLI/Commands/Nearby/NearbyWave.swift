#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

struct NearbyWave: CircleCommand {
    static let configuration = CommandConfiguration(
        commandName: "wave", abstract: "Greet a member whom you have met: the person sees it only by waving too.",
        discussion: """
            Without a number, asks for answers to the waves that wait. A wave without an answer stays secret; the circle's \
            server learns of a match that two members met that day, and not where or when.
            """)

    @Argument(help: ArgumentHelp("The person's number.", valueName: "number"), transform: PersonArgument.parse)
    var person: UserNumber?

    @Option(help: "What the person reads, at most 80 bytes.")
    var text = ""

    @OptionGroup var choice: CircleChoice

    func run() async throws {
        let (isTold, answers, isWaiting) = try await withCircle { circle, vault in
            var isTold = true
            if let person {
                let log = EncounterLog(in: vault, community: NearbyCommand.community)
                isTold = try await circle.wave(at: person, text: text, log: log)
            }
            // A server that has just not answered is not asked.
            let answers = try await isTold ? circle.collectWaves() : []
            return (isTold, answers, try await !circle.wavesWaiting().isEmpty)
        }
        if choice.common.json {
            let rows = answers.map { wave in
                JSONText.object([
                    ("person", .integer(Int64(wave.person.value))), ("name", .string(wave.name)),
                    ("text", .string(wave.text)), ("time", .seconds(wave.time)),
                ])
            }
            let told = person == nil ? [] : [("told", JSONText.bool(isTold))]
            return Output.result(
                JSONText.object([("answers", .array(rows)), ("waiting", .bool(isWaiting))] + told).text)
        }
        for wave in answers { Output.result(Self.line(wave)) }
        if !isTold {
            Output.note(Self.untold)
        } else if answers.isEmpty {
            Output.note(
                isWaiting
                    ? "Waiting for an answer: `nearby watch` tells you, or ask again with: handshake nearby wave"
                    : "No wave waits for an answer.")
        }
    }

    static let untold =
        "The circle's server has not confirmed your wave yet. `nearby watch` tells it again, and so does: handshake nearby wave"

    static func line(_ wave: MutualWave) -> String {
        let text = wave.text.isEmpty ? "" : ": " + quoted(wave.text, limit: 100)
        return "\(quoted(wave.name, limit: 80)) waved back\(text)"
    }
}
#endif
