#if CommandLine
import ArgumentParser
import Beacons
import Nearby
import OAuth

/// `handshake nearby circle settings`: what the members see of the user.
struct CircleSettings: CircleCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings", abstract: "Show and change what a circle's members see of you.",
        discussion: """
            Without an option it shows the settings, from whom you hide, and whom you ignore because you forgot them. Members who have fetched your photo or batch see it until their \
            devices fetch the table again, within six hours. With waves off, you cannot wave either. While you have paused, members still \
            see your name, and your photo and batch where these are on. If the server cannot be reached, it gets the change at the next \
            synchronisation. Also when the command ends with a timeout, the change is kept on this device.
            """)

    /// What a setting is changed to.
    enum Switch: String, ExpressibleByArgument, CaseIterable {
        case on, off
    }

    @Option(help: "Whether members see your photo: on or off.")
    var photo: Switch?

    @Option(help: "Whether members see your batch: on or off.")
    var batch: Switch?

    @Option(help: "Whether members can wave at you: on or off.")
    var waves: Switch?

    @Option(
        help:
            "Whether this device fetches the photos of the others: on or off. With off, those that it has are removed.")
    var othersPhotos: Switch?

    @OptionGroup var choice: CircleChoice

    private var change: JoinedCircle.VisibilityChange {
        JoinedCircle.VisibilityChange(
            photo: photo.map { $0 == .on }, batch: batch.map { $0 == .on }, waves: waves.map { $0 == .on },
            othersPhotos: othersPhotos.map { $0 == .on })
    }

    func run() async throws {
        let vault = try await NearbyVault.open(choice.common)
        try await NearbyFailure.reported {
            let joined = try await choice.chosen(in: vault)
            let isReached = change.isEmpty ? try await joined.refreshVisibility() : true
            let isUnchanged = change.isEmpty ? false : try await joined.wouldChangeNothing(change)
            if !change.isEmpty, isUnchanged != true {
                // A server that could not be reached is not waited for twice.
                try await joined.change(change, tellingNow: isUnchanged != nil)
            }
            let (summary, visibility) = (try await joined.summary(), try await joined.visibility())
            if choice.common.json {
                return Output.result(CircleText.json(summary, CircleText.members(of: visibility)).text)
            }
            if !change.isEmpty {
                Output.note(
                    isUnchanged == true
                        ? "Nothing left to change: the circle's server has these settings."
                        : CircleText.changed(change, summary, visibility))
            } else if !isReached {
                Output.note(CircleText.notAsked(summary))
            }
            for line in Table.lines(CircleText.rows(summary, visibility)) { Output.result(line) }
        }
    }
}

extension CircleText {
    /// What was changed, in sentences.
    /// - Parameters:
    ///   - summary: what the user is in the circle, after the change.
    ///   - visibility: what the circle sees, after the change.
    static func changed(
        _ change: JoinedCircle.VisibilityChange, _ summary: JoinedCircle.Summary, _ visibility: JoinedCircle.Visibility
    ) -> String {
        var sentences: [String] = []
        switch change.othersPhotos {
        case true?: sentences.append("The photos of the others come with the next synchronisation.")
        case false?:
            sentences.append("The photos of the others are removed from this device, and not fetched any more.")
        case nil: break
        }
        if change.photo != nil || change.batch != nil || change.waves != nil {
            let moment = summary.mustJoinAgain ? "when you join again" : "at the next synchronisation"
            let unsent = "Changed on this device. The circle's server gets the change \(moment)."
            sentences.append(
                visibility.isTold
                    ? summary.isPaused && change.photo == nil && change.batch == nil
                        ? "Changed." : "Changed. Members' devices notice within six hours."
                    : unsent)
        }
        if change.waves == true, summary.isPaused {
            sentences.append("Members can wave at you when the pause is over.")
        }
        return sentences.joined(separator: " ")
    }

    /// That the circle's server could not be asked for the settings, and why.
    static func notAsked(_ summary: JoinedCircle.Summary) -> String {
        summary.mustJoinAgain
            ? "This device is signed out of the circle: these are the settings that it knows."
            : "The circle's server cannot be reached: these are the settings that this device knows."
    }

    static func rows(_ summary: JoinedCircle.Summary, _ visibility: JoinedCircle.Visibility) -> [[String]] {
        // What the server has not been told, members cannot know.
        let unsent = visibility.isTold ? nil : "not sent to the circle's server yet"
        func seen(_ isShown: Bool?) -> String {
            isShown.map { isOn in
                isOn ? "on; \(unsent ?? "members see it")" : "off; \(unsent ?? "members do not see it")"
            } ?? "unknown"
        }
        var photo = seen(visibility.photo)
        if visibility.photo == true, visibility.hasPhoto == false {
            photo = "on, but the circle has no photo of you: it is missing or larger than 4096 bytes"
        }
        let hidden = visibility.hidden.map(\.description).joined(separator: ", ")
        let ignored = visibility.ignored.map(\.description).joined(separator: ", ")
        let canWave = summary.isPaused ? "no one can wave at you while you have paused" : "members can wave at you"
        let rows = [
            ["Circle", summary.circle], ["Address", summary.address],
            ["You", "\(summary.name), number \(summary.number)"],
            ["Paused", summary.isPaused ? "yes; \(duringPause(isTold: visibility.isTold))" : "no"],
            ["Photo", photo], ["Batch", seen(visibility.batch)],
            ["Waves", visibility.waves ? "on; \(unsent ?? canWave)" : "off; \(unsent ?? "no one can wave at you")"],
            ["Others' photos", visibility.othersPhotos ? "on; this device fetches them" : "off"],
            ["Hidden from", hidden.isEmpty ? "no one" : hidden],
            ["Ignored", ignored.isEmpty ? "no one" : "\(ignored); end it with: handshake nearby circle unhide NUMBER"],
        ]
        return rows
    }

    /// What members see of a user who has paused.
    static func duringPause(isTold: Bool) -> String {
        (isTold
            ? "members stop recognising you within six hours of the pause"
            : "nothing is sent, and the circle's server does not know everything yet")
            + ". They still see your name, and your photo and batch where these are on"
    }

    /// The members of a circle's JSON object that say what its members see of the user.
    static func members(of visibility: JoinedCircle.Visibility) -> [(String, JSONText)] {
        func optional(_ value: Bool?) -> JSONText { value.map { .bool($0) } ?? .null }
        return [
            (
                "settings",
                .object([
                    ("photo", optional(visibility.photo)), ("batch", optional(visibility.batch)),
                    ("waves", .bool(visibility.waves)), ("others_photos", .bool(visibility.othersPhotos)),
                ])
            ), ("hidden", .array(visibility.hidden.map { .integer(Int64($0.value)) })),
            ("ignored", .array(visibility.ignored.map { .integer(Int64($0.value)) })),
            ("has_photo", optional(visibility.hasPhoto)), ("told", .bool(visibility.isTold)),
        ]
    }
}
#endif
