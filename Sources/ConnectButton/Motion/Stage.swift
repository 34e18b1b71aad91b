/// Where every part of the button is at a moment: the player of the timelines.
///
/// A value without a clock: a rendering asks for the pose at a time, in seconds of a clock that does not run backwards, and
/// draws it. A change in the middle of another one starts from the present values (MO28).
struct Stage: Sendable {
    /// What is shown: the step, its label and its progress.
    struct Scene: Sendable, Hashable {
        var step: ConnectButtonState.Step
        var label = ""
        var bar = Bar.none

        var look: ConnectButtonLook { ConnectButtonLook(step) }
        var caption: Caption { Caption(text: label, step: step) }
    }

    /// A label, with the step whose colour and place it has.
    struct Caption: Sendable, Hashable {
        let text: String
        let step: ConnectButtonState.Step
    }

    /// The progress bar.
    enum Bar: Sendable, Hashable {
        /// None.
        case none
        /// It fills to a part of the pill, and waits there for the answer.
        case upTo(Double)
        /// It runs empty: the seconds that are left, and all of them.
        case countdown(remaining: Double, total: Double)
    }

    /// A movement of one channel. It keeps its last value until the change is over.
    struct Move: Sendable {
        let timeline: Timeline
        /// The value that it starts from, where that is not the first track's.
        var first: Double?
        let began: Double
        /// When the change is over, and the channel rests.
        let end: Double
    }

    /// A finger on the knob, or the spring after its release.
    struct Drag: Sendable {
        let knob: KnobDrag
        let timeline: Timeline.Name
        var fraction = 0.0
        var spring: ReleaseSpring?
        /// When the finger let go.
        var began = 0.0
        /// Whether what the drag leads to is already shown: the spring only completes the movement.
        var isAnswered = false

        func fraction(at time: Double) -> Double { spring?.fraction(at: time - began) ?? fraction }

        func isOver(at time: Double) -> Bool { spring.map { time - began >= $0.duration } ?? false }
    }

    private(set) var scene: Scene
    /// The label; under a finger, that of the step which the drag leads to.
    var caption: Caption
    /// The label that fades out; nil when none does.
    var leaving: Caption?
    /// With reduced motion nothing moves: each change is complete immediately (MO25).
    var reducesMotion = false
    /// When the check mark will have been drawn and the knob be at its end.
    private(set) var arrival = 0.0

    var rest: Pose
    var moves: [Channel: Move] = [:]
    var drag: Drag?
    /// Whether a finger is on the knob: from its first movement until it leaves, whether it drags the knob or not.
    var isTouched = false

    /// Creates a stage on which a scene is at rest; its bar begins to fill.
    init(_ scene: Scene, at time: Double = 0) {
        self.scene = scene
        caption = scene.caption
        rest = Pose(scene.look, hasBar: scene.bar != .none)
        runBar(from: 0, at: time)
    }

    /// The pose at a time.
    func pose(at time: Double) -> Pose {
        var pose = rest
        for (channel, move) in moves where time < move.end {
            pose[channel] = move.timeline.value(of: channel, at: time - move.began, from: move.first) ?? pose[channel]
        }
        guard let drag, !(drag.isAnswered && drag.isOver(at: time)) else { return pose }
        let fraction = drag.fraction(at: time)
        for timeline in [drag.timeline.timeline, .labels()] {
            for channel in Channel.allCases {
                pose[channel] = timeline.value(of: channel, atFraction: fraction) ?? pose[channel]
            }
        }
        return pose
    }

    /// When everything will be at rest, if nothing else happens. Under a finger nothing moves by itself.
    var end: Double {
        let released = drag.flatMap { drag in drag.spring.map { drag.began + $0.duration } } ?? 0
        return moves.values.reduce(released) { max($0, $1.end) }
    }

    /// Shows another scene.
    mutating func show(_ next: Scene, at time: Double) {
        let (before, present, wasDragged) = (scene, pose(at: time), drag != nil)
        scene = next
        // The same step with other details changes nothing under a finger.
        if let drag, !drag.isAnswered, next.step == before.step { return }
        let isContinued = continuesDrag(from: before.step)
        let name = isContinued ? nil : Timeline.between(before.step, next.step)
        rest = Pose(next.look, hasBar: next.bar != .none, after: present)
        defer { runBar(from: present[.bar] > 0 ? present[.fill] : 0, at: time) }
        guard !reducesMotion else {
            (moves, leaving, caption) = ([:], nil, next.caption)
            return
        }
        if isContinued, let dragged = drag?.timeline.timeline {
            caption = next.caption
            rest(after: dragged, from: present, at: time)
            return
        }
        if name == .arriving { arrival = time + Timeline.arriving.end }
        if before.step == next.step {
            fade(.bar, from: present, at: time)
        } else {
            move(along: name, from: present, at: time, isMoving: wasDragged)
        }
        changeLabel(along: name, present: present, at: time)
    }

    /// Ends what is over. Call it at ``end``. A change that a released knob led to and that did not come is taken back.
    mutating func settle(at time: Double) {
        moves = moves.filter { time < $1.end }
        if let drag, drag.isOver(at: time) {
            if drag.isAnswered || drag.spring?.target == 0 {
                self.drag = nil
                caption = scene.caption
            } else {
                takeBack(at: time)
            }
        }
        if moves[.leavingLabel] == nil, drag == nil { leaving = nil }
    }
}
