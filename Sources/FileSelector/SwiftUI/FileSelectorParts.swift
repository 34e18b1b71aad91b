#if canImport(SwiftUI) && !os(tvOS) && !os(watchOS)
import SwiftUI

/// The look's colours in the light or the dark appearance.
struct FileSelectorPalette {
    private let isDark: Bool

    init(_ scheme: ColorScheme) {
        isDark = scheme == .dark
    }

    var card: Color { color("card") }
    var ink: Color { color("ink") }
    var quiet: Color { color("quiet") }
    var line: Color { color("line") }
    var field: Color { color("field") }
    var accent: Color { color("accent") }
    var accentInk: Color { color("accent-ink") }
    var bad: Color { color("bad") }
    var warnTint: Color { color("warn-tint") }
    /// Behind what is selected.
    var tint: Color { accent.opacity(isDark ? 0.16 : 0.09) }

    private func color(_ role: String) -> Color {
        let color = FileSelectorLook.standard.color(role, dark: isDark)
        return Color(.sRGB, red: color.red, green: color.green, blue: color.blue, opacity: 1)
    }
}

/// A button with a text.
struct FileSelectorButton: View {
    private let title: String
    private let isFirst: Bool
    private let action: @MainActor () -> Void
    @Environment(\.colorScheme) private var colorScheme
    @Environment(\.isEnabled) private var isEnabled

    init(_ title: String, isFirst: Bool = false, action: @escaping @MainActor () -> Void) {
        self.title = title
        self.isFirst = isFirst
        self.action = action
    }

    var body: some View {
        let palette = FileSelectorPalette(colorScheme)
        Button(action: action) {
            Text(verbatim: title).fontWeight(.semibold)
                .frame(maxWidth: isFirst ? .infinity : nil, minHeight: FileSelectorLook.standard.control)
                .padding(.horizontal, 18)
                .background(
                    isFirst ? palette.accent : palette.card,
                    in: RoundedRectangle(cornerRadius: 10)
                )
                .foregroundStyle(isFirst ? palette.accentInk : palette.ink)
                .overlay {
                    RoundedRectangle(cornerRadius: 10).stroke(isFirst ? palette.accent : palette.line, lineWidth: 1)
                }
        }
        .buttonStyle(.plain)
        .opacity(isEnabled ? 1 : 0.45)
    }
}

/// A button with a picture, whose name assistive technology reads.
struct IconButton: View {
    private let picture: String
    private let name: String
    private let action: @MainActor () -> Void

    init(_ picture: String, _ name: String, action: @escaping @MainActor () -> Void) {
        self.picture = picture
        self.name = name
        self.action = action
    }

    var body: some View {
        let side = FileSelectorLook.standard.control
        Button(action: action) {
            Image(systemName: picture).frame(width: side, height: side).contentShape(Rectangle())
        }
        .buttonStyle(.plain)
        .accessibilityLabel(Text(verbatim: name))
    }
}

/// A message in place of the list.
struct FileSelectorMessage<Actions: View>: View {
    let title: String?
    let note: String
    @ViewBuilder let actions: () -> Actions

    var body: some View {
        VStack(spacing: 14) {
            if let title {
                Text(verbatim: title).fontWeight(.semibold).multilineTextAlignment(.center)
                    .accessibilityAddTraits(.isHeader)
            } else {
                ProgressView()
            }
            Text(verbatim: note).multilineTextAlignment(.center)
            actions()
        }
        .padding(24)
        .frame(maxWidth: 420)
    }
}

/// The picture of a sample's person.
struct PersonaPictureView: View {
    let picture: PersonaPicture
    @Environment(\.colorScheme) private var colorScheme

    var body: some View {
        let look = FileSelectorLook.standard.picture
        let isDark = colorScheme == .dark
        let hue = Double(picture.hue) / 360
        let arcs = picture.turns
        ZStack {
            Circle().fill(Color(hue: hue, saturation: isDark ? 0.4 : 0.12, brightness: isDark ? 0.26 : 0.97))
            ForEach(Array(arcs.indices), id: \.self) { index in
                Circle().trim(from: arcs[index].start, to: arcs[index].end)
                    .stroke(
                        Color(hue: hue, saturation: isDark ? 0.5 : 0.7, brightness: isDark ? 0.82 : 0.7),
                        lineWidth: Double(arcs[index].weight) + 0.6
                    )
                    .rotationEffect(.degrees(-90))
                    .padding(look.size / 2 - look.ring)
            }
            Text(verbatim: picture.initial).fontWeight(.semibold)
                .foregroundStyle(Color(hue: hue, saturation: isDark ? 0.25 : 0.7, brightness: isDark ? 0.95 : 0.4))
        }
        .frame(width: look.size, height: look.size)
        .accessibilityHidden(true)
    }
}
#endif
