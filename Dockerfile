# The program alone, run as a user without root:
#   docker build -t maxmargin .
#   docker run --rm -v "$PWD:/data" maxmargin info FILE
# Files that it writes go to folders that this user may write: add --user "$(id -u):$(id -g)" for your own.
FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
ENV CARGO_PROFILE_RELEASE_STRIP=symbols
RUN cargo build --release --locked -p maxmargin-cli --features png,arrow,parquet

FROM debian:bookworm-slim
# Letters of PNG pictures.
RUN apt-get update \
    && apt-get install -y --no-install-recommends fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/target/release/maxmargin /usr/local/bin/maxmargin
COPY LICENSE-APACHE LICENSE-MIT /usr/share/doc/maxmargin/
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["maxmargin"]
CMD ["--help"]
