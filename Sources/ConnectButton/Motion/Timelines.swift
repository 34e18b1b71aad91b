/// The timelines of the changes that are more than a fade (`connect-button-motion.md`, section 2).
extension Timeline {
    /// A label replaces another one: the old text fades out, the new one in from half time. A footer does the same.
    static func labels(seconds: Double = change) -> Timeline {
        Timeline(
            duration: seconds,
            tracks: [
                Track(.leavingLabel, 1, 0, at: 0, until: seconds), Track(.label, 0, 1, at: seconds / 2, until: seconds),
            ])
    }

    /// E: the knob travels with the confirm button and becomes it; the field fades in.
    static let email = Timeline(
        duration: morph,
        tracks: [
            Track(.emailGround, 0, 1, at: 0, until: morph),
            Track(.knobPlace, 0, 1, at: 0, until: morph), Track(.shadow, 1, 0, at: 0, until: morph),
            Track(.confirmPlace, 0, 1, at: 0, until: morph),
            Track(.confirmScale, geometry.knobDiameter / geometry.confirm, 1, at: 0, until: morph),
            Track(.confirmRound, 1, 0, at: 0, until: morph),
            Track(.discRound, 1, 0, at: morph / 4, until: morph), Track(.icon, 1, 0, at: morph / 4, until: morph),
            Track(.discScale, 1, geometry.confirm / geometry.knobDiameter, at: morph / 4, until: morph),
            Track(.confirm, 0, 1, at: morph * 0.7, until: morph), Track(.field, 0, 1, at: morph * 0.7, until: morph),
            // It is under the confirm button, and fades when that is fully visible.
            Track(.knob, 1, 1, at: 0, until: morph), Track(.knob, 1, 0, at: morph, until: morph + 0.25, .easeOut),
        ])

    /// G: the knob glides to the end and blends into the ground.
    static let leaving = Timeline(
        duration: change, tracks: gliding(0, 1) + [Track(.knob, 1, 1, at: 0, until: change)])

    /// Q: the knob glides to the start and blends into the ground; the answers fade.
    static let disconnecting = Timeline(
        duration: change, tracks: gliding(1, 0) + [Track(.knob, 1, 0, at: change * 0.8, until: change)])

    /// The way to the question whether to disconnect, under a finger; the answers fade in afterwards.
    static let asking = Timeline(duration: change, tracks: [Track(.knobPlace, 1, 0, at: 0, until: change)])

    /// T: the knob appears where it belongs, and a full bar fades in place.
    static let returning = Timeline(
        duration: change,
        tracks: [Channel.knob, .icon, .shadow].map { Track($0, 0, 1, at: 0, until: change) })

    /// O and P: the check mark is drawn on the brand's ground; then the knob glides from the centre to its end.
    static let arriving = Timeline(
        duration: glide + change,
        tracks: [
            Track(.bar, 1, 0, at: 0, until: change), Track(.ring, 0, 1, at: 0, until: motion.ring),
            Track(.dot, 0, 1, at: 0, until: motion.dot, .easeIn),
            Track(.tick, 0, 1, at: motion.dot, until: motion.dot + motion.tick, .easeOut),
            Track(.leavingLabel, 1, 0, at: 0, until: change),
            Track(.label, 0, 1, at: glide + change / 2, until: glide + change),
            // Where the ground is not yet the brand's, it becomes that first.
            Track(.brandGround, 1, 1, at: 0, until: change),
            Track(.brandGround, 1, 0, at: glide, until: glide + change),
            Track(.knobPlace, 0.5, 1, at: glide, until: glide + change),
            Track(.knob, 0, 1, at: glide, until: glide + change),
            Track(.mark, 1, 0, at: glide, until: glide + change),
            Track(.markPlace, 0, 0.5, at: glide, until: glide + change),
        ])

    /// The timeline of a change; nil for one in which everything fades.
    static func between(_ before: ConnectButtonState.Step, _ now: ConnectButtonState.Step) -> Name? {
        let (old, new) = (ConnectButtonLook(before), ConnectButtonLook(now))
        if ConnectButtonLook.celebrates(from: before, to: now) { return .arriving }
        if before == .disconnected, new.knob == .start { return .returning }
        guard new.knob == .hidden, new.input != .choice else { return nil }
        if old.knob == .start { return new.input == .email ? .email : .leaving }
        return old.isOn ? .disconnecting : nil
    }

    /// The timeline under a finger that drags the knob.
    static func dragging(from step: ConnectButtonState.Step, to next: ConnectButtonState.Step) -> Name {
        if ConnectButtonLook(next).input == .choice { return .asking }
        return between(step, next) ?? .leaving
    }

    /// The timelines by their names in the web component.
    enum Name: String, Sendable, Hashable, CaseIterable {
        case email
        case leaving
        case disconnecting
        case asking
        case returning
        case arriving

        var timeline: Timeline {
            switch self {
            case .email: .email
            case .leaving: .leaving
            case .disconnecting: .disconnecting
            case .asking: .asking
            case .returning: .returning
            case .arriving: .arriving
            }
        }
    }

    private static var motion: ConnectButtonMotion { .standard }
    private static var geometry: ConnectButtonGeometry { .standard }
    static var change: Double { motion.change }
    private static var morph: Double { motion.emailMorph }
    /// When the knob glides to its end, after the check mark has stood still.
    private static var glide: Double { motion.dot + motion.tick + motion.checkHold }

    private static func gliding(_ from: Double, _ to: Double) -> [Track] {
        [Track(.knobPlace, from, to, at: 0, until: change)]
            + [Channel.disc, .icon, .shadow].map { Track($0, 1, 0, at: 0, until: change) }
    }
}
