import Testing

@testable import ConnectButton

@Suite("What a press looks like")
struct PressTests {
    /// The only track of a transition of the dossier, or its tracks one after the other.
    private static func tracks(_ id: String) throws -> [UpstreamMotion.Track] {
        try UpstreamMotion.read().transition(id).tracks
    }

    @Test("MO23: a press dims as the dossier's, the footer's too", arguments: ["press_held", "press_footer"])
    func held(_ id: String) throws {
        let track = try #require(try Self.tracks(id).first)
        var press = Press()
        let touched = press.change(isPressed: true, at: 5)
        let dimmed = try #require(touched)
        #expect(dimmed.opacity == track.value(at: 1000) && dimmed.curve.rawValue == track.curve)
        #expect(track.value(at: dimmed.duration * 1000) == dimmed.opacity && track.value(at: 99) != dimmed.opacity)
        #expect(dimmed.delay == 0.1, "scrolling wins")
        let left = press.change(isPressed: false, at: 6)
        #expect(left?.opacity == 1 && left?.duration == 0.1 && left?.delay == 0)
        let flash = press.tap(at: 6)
        #expect(flash == [], "a long press has been seen")
    }

    @Test("MO23: a quick tap flashes as the dossier's, whether the finger's end is told before or after it")
    func tapped() throws {
        for isToldBefore in [true, false] {
            var press = Press()
            _ = press.change(isPressed: true, at: 5)
            if isToldBefore { _ = press.change(isPressed: false, at: 5.05) }
            let flash = press.tap(at: 5.05)
            #expect(flash.count == 2)
            for (change, track) in zip(flash, try Self.tracks("press_tapped")) {
                #expect(change.opacity == track.value(at: 1000) && change.delay == 0)
                #expect(change.curve.rawValue == track.curve && change.duration == 0.15)
            }
            let told = press.change(isPressed: false, at: 5.06)
            #expect(told == nil, "it would end the flash")
            let later = press.change(isPressed: false, at: 5.4)
            #expect(later?.opacity == 1)
        }
    }

    @Test("MO23: what is not pressed does not flash, and a finger that scrolls leaves no flash behind")
    func untouched() {
        var press = Press()
        let byKeyboard = press.tap(at: 5)
        #expect(byKeyboard == [])
        _ = press.change(isPressed: true, at: 5)
        _ = press.change(isPressed: false, at: 5.05)
        let later = press.tap(at: 9)
        #expect(later == [])
    }
}
