import Foundation
import Testing

@testable import ConnectButton

/// The dossier's timelines, `Documentation/Protocols/connect-button-motion.json`.
struct UpstreamMotion: Decodable {
    struct Transition: Decodable {
        let id: String
        let duration: Double
        let tracks: [Track]
    }

    struct Track: Decodable {
        let element: String
        let property: String
        let keyframes: [Keyframe]?
        /// A curve's name; a spring has another form.
        let curve: String?

        enum Keys: CodingKey { case element, property, keyframes, curve }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            element = try container.decode(String.self, forKey: .element)
            property = try container.decode(String.self, forKey: .property)
            keyframes = try? container.decode([Keyframe].self, forKey: .keyframes)
            curve = try? container.decode(String.self, forKey: .curve)
        }
    }

    struct Keyframe: Decodable {
        let t: Double
        let value: Double

        enum Keys: CodingKey { case t, value }

        /// A colour counts as the part of it that is not the pill's.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            t = try container.decode(Double.self, forKey: .t)
            if let word = try? container.decode(String.self, forKey: .value) {
                value = word == "pill" ? 0 : 1
            } else {
                value = try container.decode(Double.self, forKey: .value)
            }
        }
    }

    let transitions: [Transition]

    static func read() throws -> UpstreamMotion {
        let file = Vectors.folder.appending(path: "../../Documentation/Protocols/connect-button-motion.json")
        return try JSONDecoder().decode(Self.self, from: Data(contentsOf: file.standardizedFileURL))
    }

    func transition(_ id: String) throws -> Transition { try #require(transitions.first { $0.id == id }, "\(id)") }
}

extension UpstreamMotion.Track {
    /// The value at a time, in milliseconds or as a fraction; before the first keyframe its value, after the last one that.
    func value(at time: Double) -> Double {
        let frames = keyframes ?? []
        guard let first = frames.first, let last = frames.last, time > first.t else { return frames.first?.value ?? 0 }
        guard time < last.t, curve != "step" else { return frames.last { $0.t <= time }?.value ?? first.value }
        for (from, to) in zip(frames, frames.dropFirst()) where time >= from.t && time < to.t {
            let part = (time - from.t) / (to.t - from.t)
            let progress = Timeline.Curve(rawValue: curve ?? "linear")?.progress(at: part) ?? part
            return from.value + (to.value - from.value) * progress
        }
        return last.value
    }

    /// The channel that draws it, and its value there.
    var channel: (Channel, (Double) -> Double)? {
        let same: (Double) -> Double = { $0 }
        return switch (element, property) {
        case ("pill", "colour"): (.emailGround, same)
        case ("knob", "position"): (.knobPlace, same)
        case ("knob", "shadowOpacity"): (.shadow, { $0 / ConnectButtonGeometry.standard.knobShadowOpacity })
        case ("knob", "curvatureStart"): (.discRound, same)
        case ("knob", "scale"): (.discScale, same)
        case ("knob", "colour"): (.disc, same)
        case ("knobIcon", "alpha"): (.icon, same)
        case ("switchLayer", "alpha"): (.knob, same)
        case ("confirm", "position"): (.confirmPlace, same)
        case ("confirm", "scale"): (.confirmScale, same)
        case ("confirm", "curvatureStart"): (.confirmRound, same)
        case ("confirm", "alpha"): (.confirm, same)
        case ("emailField", "alpha"): (.field, same)
        case ("labelOld", "alpha"): (.leavingLabel, same)
        case ("labelNew", "alpha"): (.label, same)
        case ("progress", "alpha"): (.bar, same)
        case ("checkRing", "scale"): (.ring, same)
        case ("checkDot", "pathFraction"): (.dot, same)
        case ("checkTick", "strokeEnd"): (.tick, same)
        case ("checkMark", "alpha"): (.mark, same)
        case ("checkMark", "translateX"): (.markPlace, same)
        default: nil
        }
    }
}

@Suite("The timelines of both renderings")
struct TimelineTests {
    /// Ours, the dossier's, and where ours begins in the dossier's time, in milliseconds.
    struct Pair: Sendable, CustomTestStringConvertible {
        let ours: Timeline.Name
        let upstream: String
        var offset = 0.0
        /// What ours draws in another way, with the reason.
        var except: Set<String> = []
        var testDescription: String { upstream }
    }

    static let pairs = [
        Pair(ours: .email, upstream: "connect_to_email"),
        Pair(ours: .leaving, upstream: "connect_to_verifying"),
        Pair(ours: .disconnecting, upstream: "connected_to_disconnecting"),
        // The bar grows on: it is the stage's own.
        Pair(ours: .arriving, upstream: "connecting_to_check", except: ["progress.fraction", "checkDot.alpha"]),
        // One channel is both grounds upstream.
        Pair(
            ours: .arriving, upstream: "check_to_connected", offset: 1500, except: ["progress.fraction", "pill.colour"]),
        Pair(ours: .returning, upstream: "disconnected_to_connect", except: ["knob.position", "progress.alpha"]),
    ]

    @Test("MO1: every track is the dossier's at each sixtieth of a second", arguments: pairs)
    func tracks(_ pair: Pair) throws {
        let transition = try UpstreamMotion.read().transition(pair.upstream)
        let (timeline, labels) = (pair.ours.timeline, Timeline.labels(seconds: pair.ours == .email ? 0.5 : 0.4))
        var count = 0
        for track in transition.tracks where !track.element.hasPrefix("footer") {
            let name = "\(track.element).\(track.property)"
            guard !pair.except.contains(name) else { continue }
            let (channel, scaled) = try #require(track.channel, "\(name)")
            for frame in 0..<Int(transition.duration * 60 / 1000) {
                let time = Double(frame) * 1000 / 60
                let seconds = (time + pair.offset) / 1000
                let ours = try #require(
                    timeline.value(of: channel, at: seconds) ?? labels.value(of: channel, at: seconds), "\(name)")
                let theirs = scaled(track.value(at: time))
                #expect(abs(ours - theirs) < 0.02, "\(name) at \(time): \(ours), not \(theirs)")
            }
            count += 1
        }
        #expect(count >= 3)
    }

    static let drags: [(Timeline.Name, String)] = [
        (.email, "drag_connect_to_email"), (.leaving, "drag_connect_to_verifying"),
        (.disconnecting, "drag_connected_to_disconnecting"),
    ]

    @Test(
        "MO1, MO7: under a finger every track is the dossier's at each sixtieth of the way",
        arguments: drags)
    func dragged(_ name: Timeline.Name, _ id: String) throws {
        let labels = Timeline.labels()
        for track in try UpstreamMotion.read().transition(id).tracks {
            // The ground of these two is the pill throughout. The footer changes with the step, after the release.
            if track.element == "pill" && name != .email || track.element.hasPrefix("footer") { continue }
            let (channel, scaled) = try #require(track.channel, "\(track.element)")
            for frame in 0...60 {
                let fraction = Double(frame) / 60
                let ours = try #require(
                    name.timeline.value(of: channel, atFraction: fraction)
                        ?? labels.value(of: channel, atFraction: fraction))
                #expect(abs(ours - scaled(track.value(at: fraction))) < 0.02, "\(channel) at \(fraction)")
            }
        }
    }

    /// What a stage plays without a timeline of its own: a change of steps in which everything fades.
    struct Fade: Sendable, CustomTestStringConvertible {
        let before: ConnectButtonState.Step
        let now: ConnectButtonState.Step
        let upstream: String
        /// What ours draws in another way; the reason is in ``table``.
        var except: Set<String> = []
        var testDescription: String { upstream }
    }

    static let fades = [
        Fade(before: .loading, now: .connect, upstream: "loading_to_connect", except: ["knob.shadowOpacity"]),
        Fade(before: .loading, now: .connected, upstream: "loading_to_connected"),
        Fade(
            before: .email, now: .verifying, upstream: "email_to_verifying",
            except: ["progress.alpha", "progress.colour"]),
        Fade(
            before: .verifying, now: .creatingAccount, upstream: "verifying_to_creating_account",
            except: ["progress.fraction"]),
        Fade(
            before: .creatingAccount, now: .goingToService, upstream: "to_going_to_service",
            except: ["pill.colour", "progress.colour", "progress.fraction"]),
        Fade(
            before: .goingToService, now: .connecting, upstream: "to_connecting",
            except: ["pill.colour", "progress.fraction"]),
        Fade(before: .disconnecting, now: .disconnected, upstream: "disconnecting_to_disconnected"),
        Fade(
            before: .disconnecting, now: .connected, upstream: "disconnect_failed",
            except: ["knob.position", "progress.fraction"]),
    ]

    @Test("MO1: a change without a timeline is the dossier's at each sixtieth of a second", arguments: fades)
    func faded(_ fade: Fade) throws {
        func scene(_ step: ConnectButtonState.Step) -> Stage.Scene {
            let look = ConnectButtonLook(step)
            let label = look.input == .email || look.input == .choice ? "" : step.rawValue
            return Stage.Scene(step: step, label: label, bar: look.fill.map { .upTo($0) } ?? .none)
        }
        let transition = try UpstreamMotion.read().transition(fade.upstream)
        var stage = Stage(scene(fade.before), at: 0)
        stage.settle(at: 10)
        stage.show(scene(fade.now), at: 10)
        var count = 0
        for track in transition.tracks where !track.element.hasPrefix("footer") {
            let name = "\(track.element).\(track.property)"
            guard !fade.except.contains(name) else { continue }
            let (channel, scaled) = try #require(
                name == "progress.fraction" ? (.fill, { $0 }) : track.channel, "\(name)")
            for frame in 0..<Int(transition.duration * 60 / 1000) {
                let time = Double(frame) * 1000 / 60
                let (ours, theirs) = (stage.pose(at: 10 + time / 1000)[channel], scaled(track.value(at: time)))
                #expect(abs(ours - theirs) < 0.02, "\(name) at \(time): \(ours), not \(theirs)")
            }
            count += 1
        }
        #expect(count >= 2)
    }

    /// Every transition of the dossier that is not compared above: what holds it instead, or why ours differs.
    static let table = [
        "prefetched_to_connect": "nothing moves: StageTests MO3",
        "prefetched_to_connected": "ours is complete in its first frame, as Connect is: StageTests MO3",
        "loading_pulse":
            "the view repeats it; its times are ConnectButtonMotion.pulse and pulseOpacity, compared below",
        "loading_to_failed": "the footer alone: test_the_footers_cross_fade_takes_the_time_of_the_change",
        "failed_to_loading": "the footer alone: test_the_footers_cross_fade_takes_the_time_of_the_change",
        "returned_to_email": "ours takes Back to Connect, and the next tap is connect_to_email (F032)",
        "drag_release": "a spring: MotionTests MO10",
        "email_refused": "a spring: MotionTests MO13",
        "verifying_finish": "ours waits for no bar: the page opens when the answer is there (W4)",
        "app_handoff_bar": "ours waits for no bar: the app opens when the answer is there (W4)",
        "drag_off_abort": "the text is the same, and a text that stays does not fade (MO5)",
        "disconnecting_progress": "the bar: StageTests MO15",
        "activation_failed": "ours fades, where upstream jumps: a change starts from what is seen (MO28)",
        "footer_change": "the views': test_the_footers_cross_fade_takes_the_time_of_the_change",
        "press_held": "PressTests", "press_tapped": "PressTests", "press_footer": "PressTests",
        "press_confirm": "no motion: the pressed colour is ConnectButtonPalette's, LookTests",
        "about_link_flash": "ours dims like every other press: PressTests",
        "scheme_change": "no motion",
        "size_change": "no motion: test_another_size_is_right_in_the_next_frame_and_nothing_restarts",
    ]

    @Test("MO1: each transition of the dossier is compared, or has a reason why not")
    func complete() throws {
        let compared = Self.pairs.map(\.upstream) + Self.fades.map(\.upstream) + Self.drags.map(\.1)
        let all = try UpstreamMotion.read().transitions.map(\.id)
        #expect(Set(all).subtracting(compared).subtracting(Self.table.keys) == [], "neither compared nor explained")
        #expect(Set(Self.table.keys).union(compared).subtracting(all) == [], "no transition of the dossier")
        #expect(Set(Self.table.keys).isDisjoint(with: compared))
        #expect(all.count == 38)
    }

    @Test("the pulse of Loading has the dossier's times")
    func pulse() throws {
        let (motion, track) = (
            ConnectButtonMotion.standard,
            try #require(try UpstreamMotion.read().transition("loading_pulse").tracks.first)
        )
        #expect(track.value(at: 0) == 1 && track.value(at: motion.pulse * 1000) == motion.pulseOpacity)
    }

    @Test("MO2: the dossier's film strips come out of the data", arguments: Strip.all)
    func strips(_ strip: Strip) {
        let timeline = strip.name.timeline
        for (milliseconds, value) in zip(strip.times, strip.values) {
            let ours =
                timeline.value(of: strip.channel, at: milliseconds / 1000)
                ?? Timeline.labels(seconds: strip.name == .email ? 0.5 : 0.4).value(
                    of: strip.channel, at: milliseconds / 1000)
            #expect(abs((ours ?? -1) - value) < 0.02, "\(strip.channel) at \(milliseconds)")
        }
    }

    /// A row of the tables in the dossier's section 5.
    struct Strip: Sendable {
        let name: Timeline.Name
        let channel: Channel
        let times: [Double]
        let values: [Double]

        private static let email: [Double] = [0, 100, 200, 300, 400, 500, 600, 700]
        private static let arrival: [Double] = [
            0, 100, 200, 300, 400, 700, 800, 900, 1000, 1500, 1600, 1700, 1800, 1900,
        ]
        private static let leave: [Double] = [0, 80, 160, 240, 320, 360, 400]

        static let all = [
            Strip(name: .email, channel: .knobPlace, times: email, values: [0, 0.08, 0.33, 0.67, 0.92, 1, 1, 1]),
            Strip(name: .email, channel: .confirmScale, times: email, values: [0.89, 0.90, 0.93, 0.96, 0.99, 1, 1, 1]),
            Strip(name: .email, channel: .confirmRound, times: email, values: [1, 0.92, 0.67, 0.33, 0.08, 0, 0, 0]),
            Strip(
                name: .email, channel: .discScale, times: email, values: [1, 1, 1.01, 1.06, 1.11, 1.125, 1.125, 1.125]),
            Strip(name: .email, channel: .discRound, times: email, values: [1, 1, 0.92, 0.56, 0.15, 0, 0, 0]),
            Strip(name: .email, channel: .icon, times: email, values: [1, 1, 0.92, 0.56, 0.15, 0, 0, 0]),
            Strip(name: .email, channel: .confirm, times: email, values: [0, 0, 0, 0, 0.23, 1, 1, 1]),
            Strip(name: .email, channel: .field, times: email, values: [0, 0, 0, 0, 0.23, 1, 1, 1]),
            Strip(name: .email, channel: .knob, times: email, values: [1, 1, 1, 1, 1, 1, 0.43, 0.06]),
            Strip(name: .email, channel: .leavingLabel, times: email, values: [1, 0.92, 0.67, 0.33, 0.08, 0, 0, 0]),
            Strip(
                name: .arriving, channel: .bar, times: arrival,
                values: [1, 0.87, 0.50, 0.13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            Strip(
                name: .arriving, channel: .ring, times: arrival,
                values: [0, 0.13, 0.50, 0.87, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
            Strip(
                name: .arriving, channel: .dot, times: Array(arrival.prefix(6)),
                values: [0, 0.03, 0.10, 0.21, 0.35, 0.89]),
            Strip(
                name: .arriving, channel: .tick, times: arrival,
                values: [0, 0, 0, 0, 0, 0, 0.26, 0.68, 0.96, 1, 1, 1, 1, 1]),
            Strip(
                name: .arriving, channel: .mark, times: arrival,
                values: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.87, 0.50, 0.13, 0]),
            Strip(
                name: .arriving, channel: .knobPlace, times: arrival,
                values: [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.50, 0.56, 0.75, 0.94, 1]),
            Strip(
                name: .arriving, channel: .label, times: arrival,
                values: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.50, 1]),
            Strip(
                name: .disconnecting, channel: .knobPlace, times: leave, values: [1, 0.92, 0.67, 0.33, 0.08, 0.02, 0]),
            Strip(name: .disconnecting, channel: .knob, times: leave, values: [1, 1, 1, 1, 1, 0.50, 0]),
            Strip(name: .disconnecting, channel: .label, times: leave, values: [0, 0, 0, 0.08, 0.67, 0.92, 1]),
        ]
    }

    @Test("every change of steps has its timeline, as in the web component", arguments: try Vectors.read().changes)
    func changes(_ vector: Vectors.Change) throws {
        let before = try #require(ConnectButtonState.Step(rawValue: vector.from))
        let now = try #require(ConnectButtonState.Step(rawValue: vector.to))
        #expect(Timeline.between(before, now)?.rawValue == vector.timeline)
    }
}
