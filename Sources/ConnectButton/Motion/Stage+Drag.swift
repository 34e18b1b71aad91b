extension Stage {
    /// Begins a drag towards a step.
    ///
    /// - Parameters:
    ///   - next: The step the drag leads to.
    ///   - label: The label that fades in on the way.
    mutating func grab(towards next: ConnectButtonState.Step, label: String) {
        drag = Drag(timeline: Timeline.dragging(from: scene.step, to: next))
        leaving = caption
        caption = Caption(text: label, step: next)
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
