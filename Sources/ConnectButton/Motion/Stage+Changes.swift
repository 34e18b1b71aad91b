extension Stage {
    /// Moves all channels to their rest: along a timeline where it has a track, with a fade where it has none.
    mutating func move(along name: Timeline.Name?, from present: Pose, at time: Double, isMoving: Bool) {
        let timeline = name?.timeline ?? Timeline(duration: Timeline.change, tracks: [])
        for channel in Channel.allCases where !channel.isOfLabel && channel != .fill {
            guard let last = timeline.tracks.last(where: { $0.channel == channel }) else {
                // The drawing of the check mark goes on while the mark fades.
                if !channel.isOfDrawing { fade(channel, from: present, at: time) }
                continue
            }
            // What is seen, and what is in the middle of a movement, goes on from where it is.
            let isRunning = isMoving || moves[channel].map { time < $0.end } ?? false
            let isSeen = channel.visibility.map { present[$0] > 0 } ?? !channel.appears
            if channel == .knobPlace { rest[channel] = last.to }
            moves[channel] = Move(
                timeline: timeline, first: isRunning || isSeen ? present[channel] : nil, began: time,
                end: time + timeline.end)
        }
    }

    /// Moves a channel to its rest along the standard curve. What is not seen takes its place immediately.
    mutating func fade(_ channel: Channel, from present: Pose, at time: Double) {
        moves[channel] = nil
        let isSeen = channel.visibility.map { present[$0] > 0 } ?? true
        guard present[channel] != rest[channel], isSeen else { return }
        let track = Timeline.Track(channel, present[channel], rest[channel], at: 0, until: Timeline.change)
        moves[channel] = Move(
            timeline: Timeline(duration: Timeline.change, tracks: [track]), began: time, end: time + Timeline.change)
    }

    /// Runs the bar. It grows at its own speed from the start side, and never shrinks while it is shown (MO15).
    mutating func runBar(from present: Double, at time: Double) {
        moves[.fill] = nil
        let (begin, seconds): (Double, Double)
        switch scene.bar {
        case .none: return
        case .upTo(let part):
            rest[.fill] = max(part, present)
            (begin, seconds) = (present, (rest[.fill] - present) * ConnectButtonMotion.standard.progress)
        case .countdown(let remaining, let total):
            begin = total > 0 ? remaining / total : 0
            rest[.fill] = reducesMotion ? begin : 0
            seconds = remaining
        }
        guard seconds > 0, !reducesMotion else { return }
        let track = Timeline.Track(.fill, begin, rest[.fill], at: 0, until: seconds, .linear)
        moves[.fill] = Move(
            timeline: Timeline(duration: seconds, tracks: [track]), began: time, end: time + seconds)
    }

    /// Old and new label cross-fade; a text that stays does not (MO4, MO5).
    mutating func changeLabel(along name: Timeline.Name?, present: Pose, at time: Double) {
        let before = caption
        caption = scene.caption
        guard before.text != caption.text else { return }
        leaving = before
        let timeline =
            switch name {
            case .arriving: Timeline.arriving
            case .email: Timeline.labels(seconds: Timeline.email.duration)
            default: Timeline.labels()
            }
        moves[.label] = Move(timeline: timeline, began: time, end: time + timeline.end)
        // The label that leaves is the one that was coming.
        moves[.leavingLabel] = Move(
            timeline: timeline, first: present[.label], began: time, end: time + timeline.end)
    }
}

extension Stage.Scene {
    /// What a state and its texts mean for the stage. A field or answers have the pill for themselves.
    init(_ state: ConnectButtonState, face: ConnectButtonFace) {
        let look = ConnectButtonLook(state.step)
        self.init(step: state.step, label: look.input == .email || look.input == .choice ? "" : face.label)
        switch state.progress {
        case .fraction(let part): bar = .upTo(part)
        case .indeterminate: bar = .upTo(look.fill ?? 0.5)
        case .none: bar = state.undo.map { .countdown(remaining: $0.remaining, total: $0.total) } ?? .none
        }
    }
}
