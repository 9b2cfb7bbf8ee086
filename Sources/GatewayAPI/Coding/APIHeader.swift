/// HTTP header fields that the API adds to the standard ones.
public enum APIHeader {
    /// On snapshots: the picture's presentation time, in µs on the source's clock; of a recording, µs since 1970.
    public static let pts = "Iotvideo-Pts"

    /// A trailer (RFC 9110 §6.5) of streaming bodies: the number of complete frames dropped because the reader was too
    /// slow.
    public static let framesDropped = "Iotvideo-Frames-Dropped"

    /// On answers to a browser's offer: how the gateway learned the key with which the device has signed its answer: `ap`,
    /// `lan` or `hub`; `none` if the answer is not verified.
    public static let keySource = "Iotvideo-Key-Source"

    /// On requests that change something: 1–64 characters of `A–Z a–z 0–9 _ - .`. A repeated request within 10 minutes
    /// gets the first response and is not executed again.
    public static let idempotencyKey = "Idempotency-Key"
}
