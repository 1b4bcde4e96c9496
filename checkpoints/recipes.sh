# How each file in this folder was made: the commands, to be run at the top of a clone. All of
# them take more than a day of processor time; copy those that you need. The translators and
# `english` read two files that README.md says how to get.
set -euo pipefail
export OMP_NUM_THREADS=1 # with another number of threads, the weights differ slightly

# --- copy, reverse, sort, induction
python -m explorer train --task copy --steps 2000 --dropout 0 --seed 0 \
    --out checkpoints/copy.safetensors --half
python -m explorer train --task reverse --steps 4000 --dropout 0 --seed 0 \
    --out checkpoints/reverse.safetensors --half
python -m explorer train --task sort --steps 6000 --dropout 0 --seed 0 \
    --out checkpoints/sort.safetensors --half
python -m explorer train --task reverse --out checkpoints/reverse-almost.safetensors \
    --until 0.9 --evaluate-every 5 --half
python -m explorer train --task reverse --steps 4000 --dropout 0 --seed 0 \
    --out checkpoints/reverse-early.safetensors --until 0.6 --evaluate-every 5 --half
python -m explorer train --task induction --out checkpoints/induction.safetensors --half

# --- english
cut -f1 tatoeba-eng-fra.tsv tatoeba-eng-cmn.tsv | LC_ALL=C sort -u > sentences.txt  # 129,442 lines
python -m explorer train --texts sentences.txt --dropout 0.2 \
    --out checkpoints/english.safetensors --half \
    --credit "Sentences from Tatoeba (tatoeba.org) via www.manythings.org/anki, CC BY 2.0 FR"
python -m benchmarks.language_model checkpoints/english.safetensors sentences.txt

# --- english-french. The best weights of stage 2 are those of step 4,000; its last 1,000 steps ran on
# two threads.
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --steps 7500 --rate 1e-3 --warmup 600 --dropout 0 --joined 0.1 --swapped 0.5 --copied 0.02 \
    --unpunctuated 0.05 --subword-alpha 0.4 --batch-tokens 3500 --average 500 \
    --evaluate-every 250 --patience 8
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-2 \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --start runs/english-french/best.safetensors --seed 1 --batch-tokens 3500 --steps 5000 \
    --rate 6e-4 --warmup 200 --dropout 0 --subword-alpha 0 --average 300 --evaluate-every 250 \
    --patience 10
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-3 \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --start runs/english-french-2/best.safetensors --seed 2 --batch-tokens 3500 --steps 3200 \
    --rate 5e-4 --warmup 150 --dropout 0.1 --subword-alpha 0 --average 300 --evaluate-every 200 \
    --patience 10
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-4 \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --start runs/english-french-3/best.safetensors --seed 4 --batch-tokens 4000 --steps 7500 \
    --rate 7e-4 --warmup 300 --dropout 0.15 --swapped 0.3 --joined 0.1 --subword-alpha 0 \
    --average 400 --evaluate-every 300 --patience 25     # stopped at step 7,315
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-5 \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --start runs/english-french-4/best.safetensors --seed 11 --batch-tokens 4000 --steps 3800 \
    --rate 7e-4 --warmup 150 --dropout 0.15 --swapped 0.3 --copied 0.01 --patterned 0.06 \
    --joined 0.12 --unpunctuated 0 --subword-alpha 0 --average 350 --evaluate-every 475 --patience 25
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-6 \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --start runs/english-french-5/best.safetensors --seed 14 --batch-tokens 4000 --steps 1500 \
    --rate 4e-4 --warmup 50 --dropout 0.1 --swapped 0.4 --copied 0.02 --patterned 0.15 --joined 0.12 \
    --unpunctuated 0 --subword-alpha 0 --average 300 --evaluate-every 250 --patience 25 \
    --out english-french-6.safetensors --half
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-7 \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --start english-french-6.safetensors --seed 21 --batch-tokens 4000 --steps 3000 \
    --rate 6e-4 --warmup 100 --dropout 0.1 --swapped 0.4 --copied 0.02 --patterned 0.15 --joined 0.12 \
    --unpunctuated 0 --subword-alpha 0 --average 300 --evaluate-every 500 --patience 25
OMP_NUM_THREADS=2 python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-8 \
    --excluded checkpoints/school-sentences/english-french.tsv --device cpu \
    --start runs/english-french-7/best.safetensors --seed 22 --batch-tokens 4000 --steps 600 \
    --rate 4e-4 --warmup 30 --dropout 0.1 --swapped 0.4 --copied 0.02 --patterned 0.15 --joined 0.4 \
    --unpunctuated 0 --subword-alpha 0 --average 200 --evaluate-every 300 --patience 25 \
    --out checkpoints/english-french.safetensors --half \
    --credit "Sentences from Tatoeba (tatoeba.org) via www.manythings.org/anki, 2019-04-07, CC BY 2.0 FR"

# --- english-french-early: made before the settings and batches of today, whose defaults give another
# model
python -m explorer train --pairs tatoeba-eng-fra.tsv --run runs/english-french-early \
    --out checkpoints/english-french-early.safetensors --half \
    --credit "Sentences from Tatoeba (tatoeba.org) via www.manythings.org/anki, 2019-04-07, CC BY 2.0 FR" \
    --steps 8000 --rate 1e-3 --warmup 600 --dropout 0 --joined 0.06 --device cpu

# --- chinese-english: first English from French too, then Chinese alone; then with the Chinese that a
# model of the other direction writes for the English sentences of the French file
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/both-english \
    --further-pairs tatoeba-eng-fra.tsv --excluded checkpoints/school-sentences/chinese-english.tsv \
    --device cpu --d-model 192 --heads 6 --encoder-layers 3 --decoder-layers 2 --d-ff 768 --longest 96 \
    --pieces 7000 --batch-tokens 3000 --steps 5500 --warmup 400 --rate 1.5e-3 --dropout 0.05 --joined 0 \
    --swapped 0.5 --subword-alpha 0.4 --average 300 --evaluate-every 500 --patience 8
export OMP_NUM_THREADS=2
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/zh2 \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu \
    --start runs/both-english/best.safetensors --seed 1 --batch-tokens 2500 --steps 750 --warmup 50 \
    --rate 3e-4 --dropout 0.1 --joined 0.05 --swapped 0 --copied 0 --unpunctuated 0 --subword-alpha 0 \
    --longest 96 --average 150 --evaluate-every 150 --patience 6
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/zh3 \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu \
    --start runs/zh2/best.safetensors --seed 2 --batch-tokens 2500 --steps 1800 --warmup 100 \
    --rate 5e-4 --dropout 0.15 --joined 0.05 --swapped 0.3 --copied 0.02 --unpunctuated 0 \
    --subword-alpha 0 --longest 96 --average 250 --evaluate-every 150 --patience 5 \
    --out zh3.safetensors --half
python - <<END
from pathlib import Path
from explorer.data.parallel_corpus import read_pairs
pairs = read_pairs("tatoeba-eng-cmn.tsv", ("2", "1"))
held_out = [pair.target for part in ("dev", "test") for pair in pairs.part(part)]
school = Path("checkpoints/school-sentences/chinese-english.tsv").read_text(encoding="utf-8")
held_out += [text for line in school.splitlines() for text in line.split("\t")[1:]]
lines = [f"{text}\t\n" for text in dict.fromkeys(held_out)]
Path("held-out-english.tsv").write_text("".join(lines), encoding="utf-8")
END
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 1,2 --run runs/english-chinese \
    --excluded held-out-english.tsv --device cpu --start zh3.safetensors --seed 5 --batch-tokens 3000 \
    --steps 2800 --rate 1.8e-3 --warmup 200 --dropout 0.15 --joined 0 --swapped 0.5 --copied 0 \
    --unpunctuated 0 --subword-alpha 0 --longest 96 --average 250 --evaluate-every 700 --patience 6
cut -f1 tatoeba-eng-fra.tsv | awk '!seen[$0]++' > english.txt
python -m explorer translate runs/english-chinese/best.safetensors english.txt \
    --out english-chinese-translated-once.tsv
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/chinese-english-2 \
    --further-pairs english-chinese-translated-once.tsv \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu --start zh3.safetensors \
    --seed 6 --batch-tokens 3500 --steps 3600 --rate 1.2e-3 --warmup 150 --dropout 0.1 --joined 0.2 \
    --swapped 0.5 --copied 0.02 --unpunctuated 0 --subword-alpha 0 --longest 96 --average 300 \
    --evaluate-every 600 --patience 20 --out chinese-english-2.safetensors --half
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 1,2 --run runs/english-chinese-2 \
    --excluded held-out-english.tsv --device cpu --start runs/english-chinese/best.safetensors \
    --seed 9 --batch-tokens 3000 --steps 3000 --rate 1e-3 --warmup 150 --dropout 0.15 --joined 0 \
    --swapped 0.5 --copied 0 --unpunctuated 0 --subword-alpha 0 --longest 96 --average 300 \
    --evaluate-every 500 --patience 6
python -m explorer translate runs/english-chinese-2/best.safetensors english.txt \
    --out english-chinese-translated.tsv
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/chinese-english-3 \
    --further-pairs english-chinese-translated.tsv \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu \
    --start chinese-english-2.safetensors --seed 12 --batch-tokens 3500 --steps 6000 --rate 1.2e-3 \
    --warmup 200 --dropout 0.1 --joined 0.2 --swapped 0.5 --copied 0.02 --patterned 0.1 \
    --unpunctuated 0 --subword-alpha 0 --longest 96 --average 300 --evaluate-every 500 --patience 20
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/chinese-english-4 \
    --further-pairs english-chinese-translated.tsv \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu \
    --start runs/chinese-english-3/best.safetensors --seed 13 --batch-tokens 3500 --steps 1500 \
    --rate 6e-4 --warmup 50 --dropout 0.1 --joined 0.35 --swapped 0.5 --copied 0.02 --patterned 0.2 \
    --unpunctuated 0 --subword-alpha 0 --longest 96 --average 250 --evaluate-every 250 --patience 20
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/chinese-english-5 \
    --further-pairs english-chinese-translated.tsv \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu \
    --start runs/chinese-english-4/best.safetensors --seed 15 --batch-tokens 3500 --steps 500 \
    --rate 4e-4 --warmup 30 --dropout 0.1 --label-smoothing 0 --joined 0.4 --swapped 0.5 --copied 0.02 \
    --patterned 0.15 --unpunctuated 0 --subword-alpha 0 --longest 96 --average 200 --evaluate-every 250 \
    --patience 20
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/chinese-english-6 \
    --further-pairs english-chinese-translated.tsv \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu \
    --start runs/chinese-english-5/best.safetensors --seed 16 --batch-tokens 3500 --steps 500 \
    --rate 4e-4 --warmup 30 --dropout 0.05 --label-smoothing 0 --joined 0.8 --swapped 0.5 --copied 0.02 \
    --patterned 0.15 --unpunctuated 0 --subword-alpha 0 --longest 96 --average 150 --evaluate-every 250 \
    --patience 20
python -m explorer train --pairs tatoeba-eng-cmn.tsv --columns 2,1 --run runs/chinese-english-7 \
    --further-pairs english-chinese-translated.tsv \
    --excluded checkpoints/school-sentences/chinese-english.tsv --device cpu \
    --start runs/chinese-english-6/best.safetensors --seed 17 --batch-tokens 3500 --steps 900 \
    --rate 5e-4 --warmup 30 --dropout 0.05 --label-smoothing 0 --joined 0.5 --swapped 0.8 --copied 0.05 \
    --patterned 0.25 --unpunctuated 0 --subword-alpha 0 --longest 96 --average 250 --evaluate-every 450 \
    --patience 20 --out checkpoints/chinese-english.safetensors --half \
    --credit "Sentences from Tatoeba (tatoeba.org) via www.manythings.org/anki, CC BY 2.0 FR; authors in the file"

# --- what each setting of the translators brings
python -m benchmarks.translation_recipe tatoeba-eng-fra.tsv --width 128 --rows 40000 --steps 1500

# --- recorded trainings
python -m explorer train --run runs/reverse --task reverse --longest 10 \
    --steps 1000 --evaluate-every 25 --seed 0 --device cpu --dropout 0.1 --background
python -m explorer train --run runs/reverse-without-mask --task reverse --longest 10 \
    --steps 1000 --evaluate-every 25 --seed 0 --device cpu --dropout 0.1 --no-causal --background
python -m explorer train --run runs/induction --task induction --steps 600 --until 0.99 \
    --dropout 0 --warmup 50 --evaluate-every 10 --seed 0 --device cpu --background
for run in reverse reverse-without-mask induction; do
    mkdir -p checkpoints/recorded/$run
    (cd runs/$run && cp -r config.json status.json metrics.jsonl moments ../../checkpoints/recorded/$run/)
done

# --- what was measured of every head
for model in copy reverse sort induction reverse-almost reverse-early; do
    python -m explorer measure checkpoints/$model.safetensors --importance --ablation \
        --out checkpoints/heads/$model.json
done
python -m explorer measure checkpoints/english-french.safetensors --pairs tatoeba-eng-fra.tsv \
    --gold checkpoints/gold/english-french.tsv --gold-columns 1,2,3,4,5 \
    --importance --ablation --out checkpoints/heads/english-french.json
python -m explorer measure checkpoints/english-french-early.safetensors --pairs tatoeba-eng-fra.tsv \
    --gold checkpoints/gold/english-french.tsv --gold-columns 1,2,3,4,5 \
    --importance --ablation --out checkpoints/heads/english-french-early.json
python -m explorer measure checkpoints/chinese-english.safetensors --pairs tatoeba-eng-cmn.tsv \
    --columns 2,1 --gold checkpoints/gold/chinese-english.tsv --gold-columns 1,2,3,4,5 \
    --importance --ablation --out checkpoints/heads/chinese-english.json
python -c 'from explorer.data.text_corpus import read_corpus
print(*read_corpus("sentences.txt").part("dev"), sep="\n")' > english-dev.txt
python -m explorer measure checkpoints/english.safetensors --texts english-dev.txt \
    --importance --ablation --out checkpoints/heads/english.json

# --- the indexes of *Where does it fire?*
for model in copy reverse sort induction reverse-almost reverse-early; do
    python -m explorer search "checkpoints/$model.safetensors" --sentences 100 --least 0.1 \
        --index "checkpoints/heads/$model.index"
done
for model in english-french english-french-early; do
    python -m explorer search "checkpoints/$model.safetensors" \
        --pairs checkpoints/gold/english-french.tsv --columns 1,2 --sentences 100 --least 0.1 \
        --index "checkpoints/heads/$model.index"
done
python -m explorer search checkpoints/chinese-english.safetensors \
    --pairs checkpoints/gold/chinese-english.tsv --columns 1,2 --sentences 100 --least 0.1 \
    --index checkpoints/heads/chinese-english.index
python -m explorer search checkpoints/english.safetensors \
    --texts checkpoints/gold/english-french.tsv --sentences 100 --least 0.1 \
    --index checkpoints/heads/english.index
