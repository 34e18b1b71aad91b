extension Stage {
    /// A finger moves on the knob.
    ///
    /// - Returns: Whether this is its first movement, which alone decides whether it drags the knob (F011).
    mutating func touch() -> Bool {
        defer { isTouched = true }
        return !isTouched
    }

    /// Whether the knob's view is needed. Under a finger it is also where it is not seen: the gesture would end with it.
    func needsKnob(in pose: Pose) -> Bool { pose[.knob] > 0 || isTouched }

    /// Begins a drag towards a step.
    ///
    /// - Parameters:
    ///   - knob: The knob under the finger.
    ///   - next: The step the drag leads to.
    ///   - label: The label that fades in on the way.
    mutating func grab(_ knob: KnobDrag, towards next: ConnectButtonState.Step, label: String) {
        drag = Drag(knob: knob, timeline: Timeline.dragging(from: scene.step, to: next))
        leaving = scene.caption
        caption = Caption(text: label, step: next)
    }

    /// The knob under the finger; nil when nothing is dragged, and when the knob moves by itself.
    private var held: KnobDrag? { drag.flatMap { $0.spring == nil ? $0.knob : nil } }

    /// The finger has moved: what it drags follows it.
    ///
    /// - Parameter x: Where the finger is, in points from the pill's left edge.
    mutating func follow(to x: Double) {
        if let held { scrub(to: held.fraction(at: x)) }
    }

    /// The finger is lifted: the knob goes on or back by its speed and place (MO9).
    ///
    /// - Parameters:
    ///   - x: Where the finger was, in points from the pill's left edge.
    ///   - velocity: Its velocity in points per second, positive to the right.
    ///   - width: The pill's width in points.
    ///   - time: The time of the lift.
    /// - Returns: What the user asks for when the knob goes on. A drag that ended with its step asks for nothing.
    mutating func lift(at x: Double, velocity: Double, width: Double, time: Double) -> ConnectButtonEvent? {
        isTouched = false
        guard let held else { return nil }
        let (fraction, forward) = (held.fraction(at: x), held.velocity(velocity, width: width))
        let completes = held.completes(fraction: fraction, velocity: forward)
        scrub(to: fraction)
        release(completes: completes, velocity: forward * width / held.way, at: time)
        return completes ? held.aim.event : nil
    }

    /// The system has taken the finger away, for an alert or for scrolling: the knob goes back, wherever it is (MO9).
    ///
    /// After ``lift(at:velocity:width:time:)`` it does nothing.
    mutating func cancelTouch(at time: Double) {
        isTouched = false
        if held != nil { release(completes: false, at: time) }
    }

    /// Draws a part of the change. Everything follows the finger linearly (MO7).
    mutating func scrub(to fraction: Double) {
        drag?.fraction = fraction
    }

    /// Lets the knob go.
    ///
    /// - Parameters:
    ///   - completes: Whether the change goes on to its end.
    ///   - velocity: The speed in track lengths per second, positive forward.
    mutating func release(completes: Bool, velocity: Double = 0, at time: Double) {
        guard let current = drag else { return }
        let fraction = current.fraction(at: time)
        drag?.fraction = fraction
        drag?.began = time
        drag?.spring = ReleaseSpring(
            from: fraction, target: completes ? 1 : 0, velocity: velocity,
            duration: reducesMotion ? 0 : current.timeline.timeline.duration)
    }

    /// Takes a released knob back, because its change is not going to come.
    mutating func takeBack(at time: Double) {
        guard let drag, drag.spring?.target == 1, !drag.isAnswered else { return }
        release(completes: false, at: time)
    }

    /// Whether the released knob is on its way to the scene: then its spring completes the change. Any other drag ends.
    mutating func continuesDrag(from before: ConnectButtonState.Step) -> Bool {
        guard let drag else { return false }
        let leads =
            drag.isAnswered
            ? scene.step == before
            : drag.spring?.target == 1 && Timeline.dragging(from: before, to: scene.step) == drag.timeline
        if leads {
            self.drag?.isAnswered = true
        } else {
            // The label under the finger was a preview.
            if !drag.isAnswered, let leaving { caption = leaving }
            self.drag = nil
        }
        return leads
    }

    /// Leaves the channels of a dragged timeline to its spring, at whose end they rest. The others move as ever.
    mutating func rest(after timeline: Timeline, from present: Pose, at time: Double) {
        for channel in Channel.allCases where !channel.isOfLabel && channel != .fill {
            guard let last = timeline.tracks.last(where: { $0.channel == channel }) else {
                fade(channel, from: present, at: time)
                continue
            }
            moves[channel] = nil
            if channel == .knobPlace { rest[channel] = last.to }
        }
    }
}
