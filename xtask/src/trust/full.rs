//! Full disks, missing rights and failing devices: the program prints a message, has an exit code,
//! and leaves existing files unchanged.

use super::Findings;
use super::program::{Program, is_temporary, said};
use maxmargin_repro::workspace::failure::{Context, Outcome};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// A script that tries a small full file system, then the same with room but read-only. `$1` is the
/// program, `$2` an empty folder. It prints faults and nothing else.
const MOUNTED: &str = r#"
program=$1 folder=$2
mount -t tmpfs -o size=256k tmpfs "$folder" || exit 77
cp m "$folder/m" || exit 77
mkdir "$folder/sub"
cat /dev/zero > "$folder/ballast" 2>/dev/null
for line in "train data -c 1 -g 0.5 --updatable -o $folder/m" "update m --add data -o $folder/m" "cv data -k 5 --force -o $folder/m"; do
  said=$("$program" $line -q 2>&1 >/dev/null); code=$?
  [ $code = 1 ] || echo "full: $line: code $code: $said"
  case $said in *"the disk is full"*) ;; *) echo "full: $line: $said";; esac
  cmp -s m "$folder/m" || echo "full: $line: the file that was there is gone"
  [ "$(ls -A "$folder")" = "ballast
m
sub" ] || echo "full: $line: left $(ls -A "$folder")"
done
said=$("$program" cv data -k 3 --cache "$folder/sub" -q 2>&1 >/dev/null) || echo "full: cv without room for its cache: $said"
[ -z "$(ls -A "$folder/sub")" ] || echo "full: the cache keeps $(ls -A "$folder/sub")"
rm "$folder/ballast"
mount -o remount,ro "$folder" || exit 77
for line in "train data -o $folder/m" "train data -o $folder/n" "update $folder/m --remove 1" "scale data -o $folder/n"; do
  said=$("$program" $line -q 2>&1 >/dev/null); code=$?
  [ $code = 1 ] || echo "read-only: $line: code $code: $said"
  case $said in *"cannot write here"*) ;; *) echo "read-only: $line: $said";; esac
done
"$program" predict data "$folder/m" -q >/dev/null || echo "read-only: no prediction"
"$program" update "$folder/m" --remove 1 -o there -q >/dev/null || echo "read-only: no update to elsewhere"
cmp -s m "$folder/m" || echo "read-only: the model has changed"
exit 0
"#;

/// Tries every fault once.
pub(crate) fn run(work: &Path, path: &Path) -> Outcome<Findings> {
    let program = Program { path, folder: work };
    program.succeed("scale two-gaussians --rows 60 -o data -q")?;
    program.succeed("train data -c 1 -g 0.5 --updatable -o m -q")?;
    let mut findings = Findings::default();
    devices(program, &mut findings)?;
    limits(program, &mut findings)?;
    mounted(program, &mut findings)?;
    let names: Vec<String> = program.names(".")?.into_iter().filter(|name| is_temporary(name)).collect();
    findings.expect(names.is_empty(), || format!("{names:?} is left"));
    Ok(findings)
}

/// Tries devices that accept no bytes and files that cannot be read.
fn devices(program: Program, findings: &mut Findings) -> Outcome<()> {
    let folder = program.folder.join("folder");
    fs::create_dir(&folder).context(folder.display())?;
    let full = Path::new("/dev/full").exists();
    // Its first byte is unmapped memory: the read fails.
    let unreadable = Path::new("/proc/self/mem").exists();
    let mut tried = 0;
    for (line, says, possible) in [
        ("train data -o /dev/full -q", "the disk is full", full),
        ("update m --remove 1 -o /dev/full -q", "the disk is full", full),
        ("predict data m -o /dev/full -q", "the disk is full", full),
        ("cv data -k 3 -o /dev/full -q", "the disk is full", full),
        ("predict data /proc/self/mem -q", "/proc/self/mem", unreadable),
        ("predict /proc/self/mem m -q", "/proc/self/mem", unreadable),
        ("update m --add /proc/self/mem -q", "/proc/self/mem", unreadable),
        ("predict data folder -q", "directory", true),
        ("verify folder data -q", "directory", true),
        ("train data -o folder -q", "directory", true),
        ("update folder --remove 1 -q", "directory", true),
        ("train data -o no/where -q", "no/where", true),
    ] {
        if possible {
            let output = program.run(line)?;
            let right = output.status.code() == Some(1) && String::from_utf8_lossy(&output.stderr).contains(says);
            findings.expect(right, || format!("{line}: {}", said(&output)));
            tried += 1;
        }
    }
    if full {
        for line in
            ["train data -o n", "predict data m", "verify m", "info m", "cv data -k 3", "update m --remove 1 -o n", "info none"]
        {
            let device = || File::options().write(true).open("/dev/full").context("/dev/full");
            let status = program.command(line).stdout(device()?).stderr(device()?).status().context(line)?;
            findings.expect(status.code() == Some(1), || format!("{line} with nowhere to say anything: {status}"));
            tried += 1;
        }
    }
    findings.done.push(format!("full: {tried} commands on devices that fail"));
    Ok(())
}

/// Tries a limit on the size of files: the system ends the program during a write.
fn limits(program: Program, findings: &mut Findings) -> Outcome<()> {
    let old = fs::read(program.folder.join("m")).context("m")?;
    let mut tried = 0;
    for (line, file) in [
        ("train data -c 10 -g 0.5 --updatable -o m -q", "m"),
        ("update m --add data -q", "m"),
        ("cv data -k 3 --cache kept -q", "m"),
    ] {
        let mut command = Command::new("sh");
        command.current_dir(program.folder).args(["-c", "ulimit -c 0; ulimit -f 1; exec \"$0\" \"$@\""]).arg(program.path);
        let Ok(output) = command.args(line.split_whitespace()).stdin(Stdio::null()).output() else { continue };
        tried += 1;
        let same = fs::read(program.folder.join(file)).is_ok_and(|found| found == old);
        findings.expect(same, || format!("{line} under a limit: the file is another: {}", said(&output)));
        findings.expect(output.status.code() != Some(101), || format!("{line} under a limit: {}", said(&output)));
        // The next run, without the limit, removes the temporary file.
        let next = program.run(&line.replace("-o m", "-o n").replace("update m", "update m -o n"))?;
        findings.expect(next.status.success(), || format!("{line} after a limit: {}", said(&next)));
        for folder in [".", "kept"] {
            let left: Vec<String> = program.names(folder).unwrap_or_default().into_iter().filter(|n| is_temporary(n)).collect();
            findings.expect(left.is_empty(), || format!("{line} after a limit: {left:?} is left in {folder}"));
        }
    }
    findings.done.push(format!("full: {tried} commands under a limit on the size of files"));
    Ok(())
}

/// Tries a tiny file system, where this user may mount one.
fn mounted(program: Program, findings: &mut Findings) -> Outcome<()> {
    let mount = program.folder.join("mount");
    fs::create_dir(&mount).context(mount.display())?;
    let mut command = Command::new("unshare");
    command.current_dir(program.folder).args(["-rm", "sh", "-c", MOUNTED, "sh"]).arg(program.path).arg(&mount);
    let Ok(output) = command.stdin(Stdio::null()).output() else {
        findings.done.push("full: skipped a file system of its own: there is no unshare".to_owned());
        return Ok(());
    };
    if !output.status.success() {
        findings.done.push(format!("full: skipped a file system of its own: {}", said(&output)));
        return Ok(());
    }
    findings.wrong.extend(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned));
    findings.done.push("full: 4 commands on a full file system, 6 on one that cannot be written".to_owned());
    Ok(())
}
