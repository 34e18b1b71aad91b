#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The check mark's animation, played once.
struct CheckMarkView: View {
    let ink: ConnectButtonColor
    let unit: Double
    let isOver: @MainActor () -> Void

    @State private var seconds = 0.0

    var body: some View {
        CheckMarkDrawing(ink: ink, unit: unit, seconds: seconds)
            .onAppear {
                let duration = CheckMark.standard.duration
                withAnimation(.linear(duration: duration)) {
                    seconds = duration
                } completion: {
                    isOver()
                }
            }
    }
}

/// Draws one frame of ``CheckMark``.
struct CheckMarkDrawing: View, Animatable {
    let ink: ConnectButtonColor
    let unit: Double
    var seconds: Double

    nonisolated var animatableData: Double {
        get { seconds }
        set { seconds = newValue }
    }

    var body: some View {
        let mark = CheckMark.standard
        let frame = mark.frame(at: seconds)
        let line = ConnectButtonGeometry.standard.checkMarkLine * unit
        ZStack {
            Circle()
                .inset(by: line / 2)
                .stroke(Color(ink).opacity(mark.ringOpacity), lineWidth: line)
                .scaleEffect(frame.ring)
            Tick(unit: unit)
                .trim(from: 0, to: frame.tick)
                .stroke(Color(ink), style: StrokeStyle(lineWidth: line, lineCap: .round, lineJoin: .round))
                .opacity(frame.tick > 0 ? 1 : 0)
            if let dot = frame.dot {
                Circle().fill(Color(ink)).frame(width: line, height: line)
                    .position(x: dot.x * unit, y: dot.y * unit)
            }
        }
        .frame(width: mark.side * unit, height: mark.side * unit)
        // A tick is not mirrored in right-to-left layouts.
        .environment(\.layoutDirection, .leftToRight)
    }
}

/// The tick's line.
struct Tick: Shape {
    let unit: Double

    nonisolated func path(in rect: CGRect) -> Path {
        Path { path in
            path.addLines(CheckMark.standard.tick.map { CGPoint(x: $0.x * unit, y: $0.y * unit) })
        }
    }
}
#endif
